import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { join } from 'node:path'

/** Which tests are wanted. */
export type Selection = {
  /** Parts of paths; none: every file. */
  words: readonly string[]
  /** The tests that take minutes, and all that is tried by chance many times as often. */
  long: boolean
  /** On the PostgreSQL 15 of the system. */
  on15: boolean
  /** On PostgreSQL 15 what could not differ there, too. */
  all: boolean
}

/** What can differ between two versions of PostgreSQL: its SQL, its isolation of tenants, how it is migrated and backed up. */
const differsByVersion =
  /server\/src\/(db\/|backup\/|commands\/file-command|events\/|grants\/|jobs\/|\S+-store\.test)|server\/test\/(contract\/|database\.|isolation\.)|journeys\/(a-working-day|on-time)\./

/** Has minutes of work in it, and a command of its own. */
const isLong = (file: string) => file.endsWith('.long.test.ts')

/** Is about PostgreSQL 15 itself, as a target. */
const isOf15 = (file: string) => file.endsWith('-15.test.ts')

/** Draws by chance, or races for so many rounds: the long run does that many times as often. */
const drawsByChance = /from '(?:\.\.?\/)+(?:test\/)?support\/(?:chance|race)\.ts'/

/** The test files of the repository at `root` that are wanted, in the order of their paths. */
export async function findTestFiles(root: string, selection: Selection): Promise<string[]> {
  const files: string[] = []
  for await (const file of glob('server/{src,test}/**/*.test.ts', { cwd: root })) files.push(file)
  return files.sort().filter((file) => isWanted(file, selection, (path) => readFileSync(join(root, path), 'utf8')))
}

/** A file that is named is run whatever kind it is. */
export function isWanted(file: string, { words, long, on15, all }: Selection, read: (file: string) => string): boolean {
  if (words.length > 0) return words.some((word) => file.includes(word))
  if (long) return isLong(file) || drawsByChance.test(read(file))
  if (isLong(file)) return false
  return on15 ? all || isOf15(file) || differsByVersion.test(file) : !isOf15(file)
}
