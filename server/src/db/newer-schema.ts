import { type AppliedMigration, inOurTerms } from './past-migrations.ts'

/**
 * A migration as a database has recorded it. `oldest_code`: the number of a migration; code that knows that one may run beside this one.
 * Null: only code that knows this migration itself.
 */
export type RecordedMigration = AppliedMigration & { oldest_code: string | null }

const statement = /^-- Runs beside code that knows (\d{4})\.$/m

/** What the text of a migration states about older code; null if nothing. */
export function oldestCodeOf(text: string): string | null {
  return statement.exec(text)?.[1] ?? null
}

/** The migrations that keep code from running on the database, because it does not know them: `ours` are those that it knows. */
export function findTooNew(recorded: readonly RecordedMigration[], ours: readonly AppliedMigration[]): string[] {
  const known = new Set(ours.map(({ name }) => name))
  const newest = ours.at(-1)?.name.slice(0, 4) ?? ''
  const unknown = inOurTerms(recorded, ours).filter(({ name }) => !known.has(name))
  return unknown
    .filter(({ name }) => {
      const oldest = recorded.find((migration) => migration.name === name)?.oldest_code ?? null
      return oldest === null || newest < oldest
    })
    .map(({ name }) => name)
}

/** @throws a sentence for the operator if there are any */
export function requireNoneTooNew(names: readonly string[]): void {
  if (names.length === 0) return
  throw new Error(
    `the database was migrated by a newer version of Sallyport: it holds ${names.join(', ')}, which this version does not know. ` +
      'Start that version or a later one, or restore a backup from before',
  )
}
