import type { Database } from '../db/transaction.ts'
import type { OpenedDatabase } from '../embedded-postgres/open-database.ts'

/** The output of a command: `text` for people, `data` for scripts. */
export type Output = { text: string; data: unknown }

/** Runs the work of a command on the operator's database, and prints its output. */
export type Answer = (work: (database: Database, opened: OpenedDatabase) => Promise<Output>) => Promise<void>

/** Follows a secret that is stored nowhere. */
export const once = '\n\nThis is shown only once.'

/** Rows with aligned columns. */
export function columns(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
