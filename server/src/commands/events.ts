import type { Command } from 'commander'
import { dropQuarter } from '../backup/drop-quarter.ts'
import type { OpenedDatabase } from '../embedded-postgres/open-database.ts'
import type { Answer, Output } from './output.ts'

/** Adds the commands about the events of the audit log. `answer` runs the work of one and prints its output. */
export function addEventCommands(program: Command, answer: Answer): void {
  program
    .command('events')
    .description('the events of the audit log')
    .helpCommand(false)
    .command('drop')
    .description('drop the events of a quarter of a year that is over, of all tenants; there is no way back')
    .argument('<quarter>', 'the quarter in UTC, such as 2027-q1')
    .requiredOption('--yes', 'say that you mean it: Sallyport never drops events by itself')
    .action((quarter: string) => answer((_database, opened) => drop(opened, quarter)))
}

async function drop({ owner }: OpenedDatabase, quarter: string): Promise<Output> {
  if (owner === undefined) {
    throw new Error('set DATABASE_OWNER_URL in addition to DATABASE_URL: only the owner of the tables may do this')
  }
  const dropped = await dropQuarter(owner, quarter)
  const text = `dropped the events of ${quarter}: events ${dropped.events}, tenants ${dropped.tenants}. The audit log of each says so`
  return { text, data: dropped }
}
