import { readFileSync } from 'node:fs'

/** A section of a guide that makes a program: its files, and the commands in their order. */
export type Section = { title: string; files: [name: string, text: string][]; commands: string[] }

/** The sections with commands. A block is a file when its first line is a comment with nothing but a name. */
export function guideSections(guide: string): Section[] {
  const text = readFileSync(new URL(`../../../docs/guides/${guide}`, import.meta.url), 'utf8')
  const [, ...sections] = text.split(/^## /m)
  const all = sections.map((section) => {
    const blocks = Array.from(section.matchAll(/^```(\w+)[^\n]*\n(.*?)^```$/gms), ([, language, block = '']) => ({
      language,
      block,
    }))
    return {
      title: section.split('\n', 1)[0] ?? '',
      files: blocks.flatMap(({ block }): [string, string][] => {
        const [, name] = /^(?:\/\/|#) ([\w.]+)\n/.exec(block) ?? []
        return name === undefined ? [] : [[name, block]]
      }),
      commands: blocks.flatMap(({ language, block }) => (language === 'sh' ? block.trim().split('\n') : [])),
    }
  })
  return all.filter(({ commands }) => commands.length > 0)
}
