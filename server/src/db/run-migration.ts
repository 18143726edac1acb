import { setTimeout as pause } from 'node:timers/promises'
import type { SingleConnection } from './client/connect.ts'
import { oldestCodeOf } from './newer-schema.ts'
import type { AppliedMigration } from './past-migrations.ts'

export type Migration = AppliedMigration & { text: string }

/**
 * How long a migration waits for a lock, and everybody behind it: a backup or a report may hold one for minutes. Then it lets the others
 * pass, and tries again.
 */
export type LockDeadlines = { lockMs: number; pauseMs: number; allMs: number }
const usualDeadlines: LockDeadlines = { lockMs: 2_000, pauseMs: 3_000, allMs: 600_000 }

const lockNotAvailable = '55P03'
const outside = /^-- Outside a transaction\b/m

/**
 * Runs one migration in a transaction, and records it. One that says `-- Outside a transaction` runs statement by statement instead, as
 * `create index concurrently` demands; it may begin again after an interruption, so each of its statements can be repeated.
 * @throws what the database says, or a sentence if a lock is not to be had
 */
export async function runMigration(
  client: SingleConnection,
  migration: Migration,
  deadlines = usualDeadlines,
): Promise<void> {
  const deadline = performance.now() + deadlines.allMs
  await client.query(`set lock_timeout = ${deadlines.lockMs}`)
  for (;;) {
    try {
      await runOnce(client, migration)
      return
    } catch (error) {
      if ((error as { code?: string }).code !== lockNotAvailable) throw error
      if (performance.now() >= deadline) throw new Error(saysLocked(migration.name))
      await pause(deadlines.pauseMs)
    }
  }
}

async function runOnce(client: SingleConnection, { name, checksum, text }: Migration): Promise<void> {
  const record = () =>
    client.query('insert into migration (name, checksum, oldest_code) values ($1, $2, $3)', [
      ...[name, checksum, oldestCodeOf(text)],
    ])
  if (runsOutside(text)) {
    for (const statement of statementsOf(text)) await client.query(statement)
    await record()
    return
  }
  await client.query('begin')
  try {
    await client.query(text)
    await record()
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/** Whether a migration runs outside a transaction. */
export function runsOutside(text: string): boolean {
  return outside.test(text)
}

/** The statements of a migration that runs outside a transaction: each ends a line. */
export function statementsOf(text: string): string[] {
  return text
    .split(/;[ \t]*$/m)
    .map((statement) => statement.replaceAll(/^--.*$/gm, '').trim())
    .filter((statement) => statement !== '')
}

const saysLocked = (name: string) =>
  `the migration \`${name}\` waits for a lock that another session holds, such as a backup or a long report: start again once that is over`
