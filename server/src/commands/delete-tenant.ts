import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { writeExport } from '../backup/backup.ts'
import {
  beginDeletion,
  type DeletedTenant,
  findUnfinishedDeletion,
  finishDeletion,
  listDeletedTenants,
} from '../backup/delete-tenant.ts'
import { inspectExport } from '../backup/inspect-export.ts'
import type { ConnectionTarget } from '../db/client/connect.ts'
import type { Database } from '../db/transaction.ts'
import type { OpenedDatabase } from '../embedded-postgres/open-database.ts'
import { requireTenant } from '../tenants/named-tenant.flow.ts'
import { showTenant } from '../tenants/operator.flow.ts'
import { openLongWork } from './file-command.ts'
import { type Answer, columns, type Output } from './output.ts'

/** Adds the commands that export a tenant and delete it. `answer` runs the work of one and prints its output. */
export function addDeletion(tenant: Command, answer: Answer): void {
  tenant
    .command('export')
    .description('write one tenant into a new file, which `npm run restore` reads into an empty database')
    .argument('<tenant>', 'the id or the slug of the tenant')
    .argument('<file>', 'a file that does not exist yet')
    .action((named: string, path: string) =>
      answer(async (database, { service }) => {
        const tenant_id = await requireTenant(database, named)
        const file = resolve(path)
        const { rows } = await writeExport(service, tenant_id, file, openLongWork())
        const text = `wrote \`${file}\`: rows ${rows}. The root key is not in it: keep it in another place`
        return { text, data: { tenant_id, file, rows } }
      }),
    )

  tenant
    .command('delete')
    .description('delete a suspended tenant that holds no access; an interrupted deletion goes on when you call again')
    .argument('<tenant>', 'the id or the slug of the tenant')
    .requiredOption('--export <file>', 'the file of `tenant export` with everything that was recorded')
    .option('--yes', 'do not ask')
    .action((named: string, options: { export: string; yes?: true }) =>
      answer((database, opened) => deleteTenant(database, opened, named, options)),
    )
}

async function deleteTenant(
  database: Database,
  opened: OpenedDatabase,
  named: string,
  options: { export: string; yes?: true },
): Promise<Output> {
  const owner = requireOwner(opened)
  const work = openLongWork()
  const begun = await findUnfinishedDeletion(owner, named)
  const tenant_id = begun?.id ?? (await requireTenant(database, named))
  if (begun === undefined) {
    const held = await inspectExport(resolve(options.export), work)
    if (held.tenant_id !== tenant_id) throw new Error(`the file is the export of another tenant, ${held.tenant_id}`)
    const { name } = await showTenant(database, tenant_id)
    if (options.yes !== true) await requireConsent(name)
    await beginDeletion(owner, held)
  } else if (options.yes !== true) {
    await requireConsent(begun.name)
  }
  const deleted = await finishDeletion(owner, tenant_id, work)
  const text = `deleted the tenant ${deleted.name}: rows ${deleted.deleted_rows}. Keep its export, SHA-256 ${deleted.export_sha256}`
  return { text, data: deleted }
}

/** `tenant list --deleted`. */
export async function listDeleted(opened: OpenedDatabase): Promise<Output> {
  const tenants = await listDeletedTenants(requireOwner(opened))
  const row = ({ id, name, slug, deleted_at, deleted_rows, export_sha256 }: DeletedTenant) => {
    return [id, name, slug ?? '-', deleted_at ?? 'not finished', String(deleted_rows), export_sha256]
  }
  const headings = ['ID', 'NAME', 'SLUG', 'DELETED', 'ROWS', 'SHA-256 OF THE EXPORT']
  return { text: columns([headings, ...tenants.map(row)]), data: tenants }
}

function requireOwner({ owner }: OpenedDatabase): ConnectionTarget {
  if (owner !== undefined) return owner
  throw new Error('set DATABASE_OWNER_URL in addition to DATABASE_URL: only the owner of the tables may do this')
}

/** @throws Error where nobody at a terminal types the name of the tenant */
async function requireConsent(name: string): Promise<void> {
  if (!process.stdin.isTTY)
    throw new Error('this deletes the tenant for good: add --yes, as there is no terminal to ask at')
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const typed = await asking.question(`This deletes the tenant for good. Type its name to go on (${name}): `)
    if (typed !== name) throw new Error('that is not the name of the tenant; nothing was deleted')
  } finally {
    asking.close()
  }
}
