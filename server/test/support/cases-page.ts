import { type CaseFamily, caseFamilies, knownCases } from './known-cases.ts'
import { readSources } from './source-files.ts'

/** A test's name that ends in ids, in parentheses. `…` replaces a part that is made at run time. */
const namedTests = /['"`]((?:[^'"`\\\n]|\\.|'(?=\w))+?) \(([A-Z]\d{1,2}(?:, [A-Z]\d{1,2})*)\)['"`]/g

type Held = { file: string; name: string }

/** The page of known cases: each with the names of the tests that cover it. `root`: of the repository. */
export function casesPage(root: string): string {
  const held = readHeld(root)
  const sections = Object.entries(caseFamilies).map(([letter, title]) => {
    const rows = Object.entries(knownCases[letter as CaseFamily]).map(
      ([number, what]) => `- **${letter}${number}** ${what}: ${heldBy(held.get(letter + number))}`,
    )
    return `## ${letter}: ${title}\n\n${rows.join('\n')}`
  })
  const about =
    'The attacks, abuses, races and faults that the service is built against, each with the tests that cover it. Such a ' +
    'test has the id at the end of its name. The [threat model](../threat-model.md) explains the protections.'
  const made = '<!-- Made by `npm run generate` from server/test/support/known-cases.ts and the names of the tests. -->'
  return `# Known cases\n\n${made}\n\n${about}\n\n${sections.join('\n\n')}\n`
}

/** The first test in full, then the files of the others. */
function heldBy(tests: readonly Held[] | undefined): string {
  // A name that is made at run time means little here.
  const first = tests?.find(({ name }) => !name.includes('…')) ?? tests?.[0]
  if (tests === undefined || first === undefined) return '_no test covers it yet_'
  const others = [...new Set(tests.map(({ file }) => file))].filter((file) => file !== first.file)
  return [`“${first.name}” in ${link(first.file)}`, ...others.map(link)].join(', ')
}

function link(file: string): string {
  return `[${file.replace(/^server\/(?:src|test)\//, '')}](../../${file})`
}

function readHeld(root: string): Map<string, Held[]> {
  const held = new Map<string, Held[]>()
  for (const { path: file, text } of readSources(root, ['server'])) {
    if (!file.endsWith('.test.ts')) continue
    for (const [, written = '', ids = ''] of text.matchAll(namedTests)) {
      // Markdown gives some characters a meaning.
      const name = written.replaceAll(/\$\{[^}]*\}|^.*\}|[\\`*_<>[\]#|~]+/g, '…')
      for (const id of ids.split(', ')) held.set(id, [...(held.get(id) ?? []), { file, name }])
    }
  }
  return held
}
