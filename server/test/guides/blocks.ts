import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'

/** A fenced block of a page. */
export type Block = {
  /** As an error names it: `people.md:14`. */
  place: string
  /** The title of its section. */
  section: string
  /** The first word after the fence, by which readers see it coloured; readers do not see the others. */
  language: string
  words: string[]
  text: string
  /** What the page says about it: the text from the block before to the one after. */
  said: string
}

const root = new URL('../../../', import.meta.url)

/** The path of each page whose blocks are typed: the README first, then each guide in the order in which it names them. */
export function pagesInOrder(): string[] {
  const named = Array.from(read('README.md').matchAll(/\(docs\/guides\/([\w-]+\.md)/g), ([, name = '']) => name)
  const guides = readdirSync(new URL('docs/guides/', root)).toSorted()
  return ['README.md', ...[...new Set([...named, ...guides])].map((name) => `docs/guides/${name}`)]
}

/** The blocks of a page, in order. */
export function blocksOf(page: string): Block[] {
  const parts = read(page).split(/^```/m)
  // Text and blocks take turns, and the fence that ends a block is followed by text.
  return parts.flatMap((part, index) => {
    if (index % 2 === 0) return []
    const [info = '', ...lines] = part.split('\n')
    const [language = '', ...words] = info.trim().split(/\s+/)
    const before = parts.slice(0, index).join('```')
    const line = before.split('\n').length
    const section = /^(?:.*\n## )?(.*)$/s.exec(before)?.[1]?.split('\n', 1)[0] ?? ''
    const said = `${parts[index - 1] ?? ''} ${parts[index + 1] ?? ''}`
    return [{ place: `${basename(page)}:${line}`, section, language, words, text: lines.join('\n'), said }]
  })
}

function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8')
}
