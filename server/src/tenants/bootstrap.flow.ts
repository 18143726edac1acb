import { revokeLiveApiKey } from '../api-keys/api-key-store.ts'
import { readKeyText } from '../api-keys/api-key-text.ts'
import type { Database } from '../db/transaction.ts'
import type { Tx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { systemRoles } from '../roles/role.ts'
import { firstOwnerEmail, hasFirstOwner } from '../users/owner-store.ts'
import * as file from './bootstrap-file.ts'
import { insertTenant, operatorCtx, readNewTenant, type TenantToInsert } from './create-tenant.flow.ts'
import { makeTenantId } from './discovery.flow.ts'
import { requireTenant } from './named-tenant.flow.ts'
import { issueKey, issueKeyFor } from './operator.flow.ts'
import { makePassword } from './tenant.ts'
import { findOnlyTenant, hasTenant, lockFirstTenant } from './tenant-store.ts'

export type BootstrapOptions = {
  database: Database
  dataDir: string
  baseUrl: string
  log(message: string): void
}

const firstTenant = 'default'
const keyLifetime = 7 * 86_400
const againLifetime = 86_400
/** Each attempt waits at most a second for the lock: the database then ends the wait. */
const attempts = 10

/**
 * On a database without a tenant: creates one with its owner and an API key, and writes the credentials to a file in
 * DATA_DIR. Processes that start together create one tenant. On any other database: logs a reminder while the file exists.
 * Returns whether this process created the tenant.
 *
 * The file is written as a draft before the tenant is committed, and published after. A crash in between leaves the draft;
 * the next start publishes it or, when nothing was committed, removes it.
 */
export async function bootstrap(options: BootstrapOptions): Promise<boolean> {
  const { database, dataDir, log } = options
  const path = file.bootstrapPath(dataDir)
  const settled = file.listDrafts(dataDir).length === 0 && (await hasTenant(database.work))
  const made = settled ? false : await makeFirstTenant(options)
  if (made) {
    log(
      `created the tenant \`${firstTenant}\` and its owner \`${firstOwnerEmail}\`: the credentials are in \`${path}\`; keep that ` +
        'file secret. Next: `npm run demo`, or read README.md',
    )
  } else if (file.bootstrapExists(dataDir)) {
    file.moveBootstrap(dataDir, options.baseUrl)
    log(await reminderOf(options))
  }
  return made
}

/** What the file is still good for, and what ends that. */
async function reminderOf({ database, dataDir }: BootstrapOptions): Promise<string> {
  const path = `\`${file.bootstrapPath(dataDir)}\``
  const done = '`npm run admin -- bootstrap done`, which revokes the key and removes the file'
  const left = file.readBootstrap(dataDir)
  if (left?.admin !== undefined && (await hasFirstOwner(database.tenant(left.tenant_id)))) {
    return (
      `${path} still holds the first owner's password and an API key: \`npm run admin -- setup-link\` makes a link by which you ` +
      `become the owner, with a password of your own. Or note the password. Then run ${done}`
    )
  }
  return `${path} still holds an API key of an owner: once nothing needs it, run ${done}`
}

/** Whether this process created the tenant. */
async function makeFirstTenant(options: BootstrapOptions): Promise<boolean> {
  const password = makePassword()
  const owner = { email: firstOwnerEmail, name: 'Owner', password }
  const tx = options.database.tenant(await makeTenantId(options.database.service))
  const tenant = await readNewTenant(tx, { name: firstTenant, owner })
  for (let attempt = 1; ; attempt += 1) {
    try {
      const made = await tx.interactive((inside) => makeWhenNone(inside, options, tenant, password))
      if (made) file.publishDraft(options.dataDir, tx.tenant_id)
      return made
    } catch (error) {
      const busy = error instanceof Problem && error.code === 'unavailable'
      if (!busy || attempt === attempts) throw error
    }
  }
}

async function makeWhenNone(
  tx: Tx,
  { database, dataDir, baseUrl }: BootstrapOptions,
  tenant: TenantToInsert,
  password: string,
): Promise<boolean> {
  await lockFirstTenant(tx)
  await settleDrafts(database, dataDir)
  if (await hasTenant(database.work)) return false
  const owner = await insertTenant(operatorCtx(tx), tenant)
  const { key, expires_at } = await issueKeyFor(tx, {
    user: { id: owner.id, scopes: systemRoles.admin.scopes },
    name: 'First steps',
    scopes: 'all',
    expires_in: keyLifetime,
  })
  file.writeDraft(dataDir, {
    base_url: baseUrl,
    tenant_id: tx.tenant_id,
    admin: { email: owner.email, password },
    api_key: key,
    expires_at: expires_at ?? '',
  })
  return true
}

/** INVARIANT: called under the lock, so that no draft belongs to another process that is about to commit. */
async function settleDrafts(database: Database, dataDir: string): Promise<void> {
  for (const tenant_id of file.listDrafts(dataDir)) {
    if (await hasTenant(database.work, tenant_id)) file.publishDraft(dataDir, tenant_id)
    else file.removeDraft(dataDir, tenant_id)
  }
}

/**
 * Ends the bootstrap: revokes the key and removes the file. The owner and the password stay.
 * @throws Error with a message when there is no such file
 */
export async function endBootstrap({
  database,
  dataDir,
}: Pick<BootstrapOptions, 'database' | 'dataDir'>): Promise<{ tenant_id: string; revoked: boolean }> {
  const found = file.readBootstrap(dataDir)
  if (found === undefined)
    throw new Error(`there is no \`${file.bootstrapPath(dataDir)}\`: the bootstrap was already ended`)
  const key = readKeyText(found.api_key)
  const ctx = operatorCtx(database.tenant(found.tenant_id))
  const revoked = key === undefined ? undefined : await revokeLiveApiKey(ctx, key.id)
  file.removeBootstrap(dataDir)
  return { tenant_id: found.tenant_id, revoked: revoked !== undefined }
}

/**
 * Writes the file again, with a key for a day that acts for this user, so that the lines of the guides work once more. `named`: the
 * id or the slug of the tenant; left out, the only one.
 * @throws Error with a message when the file exists, and for a tenant or a user who can have no key
 */
export async function beginBootstrapAgain(
  { database, dataDir, baseUrl }: Omit<BootstrapOptions, 'log'>,
  { email, named }: { email: string; named: string | undefined },
): Promise<{ tenant_id: string; written: string; expires_at: string }> {
  const path = file.bootstrapPath(dataDir)
  if (file.bootstrapExists(dataDir)) throw new Error(`\`${path}\` exists: \`bootstrap done\` removes it and its key`)
  const tenant = named === undefined ? await findOnlyTenant(database.work) : await requireTenant(database, named)
  if (tenant === undefined) throw new Error('there is not just one tenant; name one with --tenant')
  const wanted = { tenant_id: tenant, email, name: 'Guides', scopes: 'all' as const, expires_in: againLifetime }
  const { key, expires_at } = await issueKey(database, wanted)
  const made = { base_url: baseUrl, tenant_id: tenant, api_key: key, expires_at: expires_at ?? '' }
  file.writeDraft(dataDir, made)
  file.publishDraft(dataDir, tenant)
  return { tenant_id: tenant, written: path, expires_at: made.expires_at }
}
