import type { Command } from 'commander'
import type { Database } from '../db/transaction.ts'
import { adoptInstallation } from '../installation/installation-store.ts'
import { columns, type Output } from './output.ts'

/** Adds `adopt`. `answer` runs the work on the operator's database and prints its output. */
export function addAdoptCommand(
  program: Command,
  answer: (work: (database: Database) => Promise<Output>) => Promise<void>,
): void {
  program
    .command('adopt')
    .description('say that this is the original, after a restore, a copy or a move: access is changed at targets again')
    .addHelpText('after', help)
    .action(() => answer(adopt))
}

const help = `
Until then, a service on a restored or copied database changes nothing at targets: the one that it was made from may still run, and each would
undo what the other did. Stop that one permanently first. Where both run, the one that is adopted last acts, and the other does nothing.

Adopt a copy for a test only where it reaches no target of the original.`

async function adopt(database: Database): Promise<Output> {
  const { id, epoch } = await adoptInstallation(database.service)
  const rows = [
    ['installation', id],
    ['epoch', String(epoch)],
  ]
  const text =
    `${columns(rows)}\n\nThis is the original. Running services change access at targets again within seconds, ` +
    'and compare each target with the ledger within minutes.'
  return { text, data: { installation: id, epoch } }
}
