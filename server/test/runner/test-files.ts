import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { join } from 'node:path'

/** Which tests to run. */
export type Selection = {
  /** Parts of paths; none: every file. */
  words: readonly string[]
  /** Also the long tests, and many times as many rounds of random tests. */
  long: boolean
  /** On the system's PostgreSQL 15. */
  on15: boolean
  /** On PostgreSQL 15, also the tests that cannot differ there. */
  all: boolean
}

/** What can differ between versions of PostgreSQL: SQL, tenant isolation, migration and backup. */
const differsByVersion =
  /server\/src\/(db\/|backup\/|commands\/file-command|events\/|grants\/|jobs\/|\S+-store\.test)|server\/test\/(contract\/|database\.|isolation\.)|journeys\/(a-working-day|on-time)\./

/** Takes long, and has its own command. */
const isLong = (file: string) => file.endsWith('.long.test.ts')

/** Is about PostgreSQL 15 itself, as a target. */
const isOf15 = (file: string) => file.endsWith('-15.test.ts')

/** Has random tests or races, which the long run repeats many times as often, or tries in a usual run some items of many. */
const drawsByChance = /from '(?:\.\.?\/)+(?:test\/)?support\/(?:chance|race|in-turns|places-once)\.ts'/

/** The wanted test files of the repository at `root`, ordered by path. */
export async function findTestFiles(root: string, selection: Selection): Promise<string[]> {
  const files: string[] = []
  for await (const file of glob('{server/{src,test},console/src}/**/*.test.ts', { cwd: root })) files.push(file)
  return files.sort().filter((file) => isWanted(file, selection, (path) => readFileSync(join(root, path), 'utf8')))
}

/** A file that is named is run whatever kind it is. */
export function isWanted(file: string, { words, long, on15, all }: Selection, read: (file: string) => string): boolean {
  if (words.length > 0) return words.some((word) => file.includes(word))
  if (long) return isLong(file) || drawsByChance.test(read(file))
  if (isLong(file)) return false
  return on15 ? all || isOf15(file) || differsByVersion.test(file) : !isOf15(file)
}
