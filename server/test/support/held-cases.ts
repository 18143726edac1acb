import { readSources } from './source-files.ts'

/** Ids at the end of a test's name, in parentheses: "a cursor of another tenant is refused (T8)". */
const idsInNames = /\(([A-Z]\d{1,2}(?:, [A-Z]\d{1,2})*)\)['"`]/g

/**
 * The known attacks and faults that tests cover, by id (`T8`), each with the files of those tests. `root`: of the repository.
 */
export function readHeldCases(root: string): Map<string, string[]> {
  const held = new Map<string, string[]>()
  for (const { path, text } of readSources(root, ['server'])) {
    if (!path.endsWith('.test.ts')) continue
    const ids = new Set([...text.matchAll(idsInNames)].flatMap(([, ids = '']) => ids.split(', ')))
    for (const id of ids) held.set(id, [...(held.get(id) ?? []), path])
  }
  return held
}
