import type { ApiKey } from '../api-keys/api-key.ts'
import { requireKeyScopes } from '../api-keys/api-key.ts'
import { insertApiKey } from '../api-keys/api-key-store.ts'
import { makeKeyText } from '../api-keys/api-key-text.ts'
import type { Database } from '../db/transaction.ts'
import type { Tx } from '../kernel/context.ts'
import { readMailDomain } from '../kernel/email-address.ts'
import { isName, nameRule } from '../kernel/one-line-name.ts'
import { resetOwnerPassword } from '../users/owner-store.ts'
import { hashPassword } from '../users/password.ts'
import { type FoundUser, findUserByEmail } from '../users/user-store.ts'
import { operatorCtx } from './create-tenant.flow.ts'
import {
  deleteMailDomain,
  insertMailDomain,
  listTenantMailDomains,
  listTenantsOfMailDomain,
  type MailDomain,
  maxMailDomains,
} from './mail-domain-store.ts'
import type { GoLive } from './mode.ts'
import { requireTenant } from './named-tenant.flow.ts'
import { findShownTenant, findTenantRow, type ShownTenant, type TenantRow } from './shown-tenant-store.ts'
import { slugFault } from './slug.ts'
import { deleteSlug, findTenantOfSlug, saveSlug } from './slug-store.ts'
import { findSuspension } from './suspension-store.ts'
import { makePassword } from './tenant.ts'
import { findTenantName, listTenantIds, type NamedTenant, readNow } from './tenant-store.ts'

/** Every tenant, the oldest first. */
export function listTenants(database: Database): Promise<TenantRow[]> {
  return readTenants(database, undefined, findTenantRow)
}

/**
 * What the operator sees of one tenant.
 * @throws Error with a message for an unknown tenant
 */
export async function showTenant(database: Database, named: string): Promise<ShownTenant> {
  const shown = await findShownTenant(database.tenant(await requireTenant(database, named)))
  if (shown === undefined) throw new Error('the tenant was deleted meanwhile')
  return shown
}

/**
 * The names of every tenant, the oldest first; or only the one with this id. It reads a database of an earlier version too.
 * @throws Error with a message for an unknown tenant
 */
export function listTenantNames(database: Database, only: string | undefined): Promise<NamedTenant[]> {
  return readTenants(database, only, findTenantName)
}

async function readTenants<Row extends { created_at: string }>(
  database: Database,
  only: string | undefined,
  find: (tx: Tx) => Promise<Row | undefined>,
): Promise<Row[]> {
  const ids = only === undefined ? await listTenantIds(database.work) : [await requireTenant(database, only)]
  const found: Row[] = []
  for (const id of ids) {
    const row = await find(database.tenant(id))
    if (row !== undefined) found.push(row)
  }
  return found.sort((one, other) => Date.parse(one.created_at) - Date.parse(other.created_at))
}

type ResetOwner = Pick<FoundUser, 'email' | 'active' | 'suspended_until'> & {
  tenant_id: string
  user_id: string
  password: string
}

/**
 * Gives an owner a new password, which is of no use yet to one who is deactivated or suspended. The password is returned and
 * stored nowhere else.
 * @throws Error with a message when there is no such owner, or when several tenants have one
 */
export async function resetOwner(database: Database, { email, tenant_id }: NamedOwner): Promise<ResetOwner> {
  const owner = await findOneOwner(database, { email, tenant_id })
  if (owner === undefined) throw new Error(`\`${email}\` owns no tenant; \`tenant list\` shows who does`)
  const password = makePassword()
  const ctx = operatorCtx(database.tenant(owner.tenant_id))
  const done = await resetOwnerPassword(ctx, owner.user.id, await hashPassword(ctx.tx, password))
  if (!done) throw new Error(`\`${email}\` signs in with ${owner.user.auth_provider}: change the password there`)
  const { id: user_id, email: address, active, suspended_until } = owner.user
  return { tenant_id: owner.tenant_id, user_id, email: address, password, active, suspended_until }
}

/** How the operator names an owner. `tenant_id`: if the address owns several tenants. */
export type NamedOwner = { email: string; tenant_id?: string | undefined }

/**
 * The owner with this address; undefined when there is none.
 * @throws Error with a message for an unknown tenant, or when several tenants have one
 */
export async function findOneOwner(
  database: Database,
  { email, tenant_id }: NamedOwner,
): Promise<{ tenant_id: string; user: FoundUser } | undefined> {
  const ids = tenant_id === undefined ? await listTenantIds(database.work) : [await requireTenant(database, tenant_id)]
  const owners: { tenant_id: string; user: FoundUser }[] = []
  for (const id of ids) {
    const user = await findUserByEmail(database.tenant(id), email)
    if (user?.is_owner) owners.push({ tenant_id: id, user })
  }
  if (owners.length > 1) {
    const named = owners.map((one) => one.tenant_id).join(', ')
    throw new Error(`\`${email}\` owns more than one tenant (${named}); say which with --tenant`)
  }
  return owners[0]
}

export type KeyToIssue = {
  tenant_id: string
  email: string
  name: string
  /** `all`: every scope that the user holds. */
  scopes: readonly string[] | 'all'
  /** Seconds; null: the key never expires. */
  expires_in: number | null
}

/**
 * Creates an API key that acts for a user.
 * @throws Error with a message when there is no such tenant or active user; Problem for scopes that the user lacks
 */
export async function issueKey(database: Database, wanted: KeyToIssue): Promise<ApiKey & { key: string }> {
  const tx = database.tenant(await requireTenant(database, wanted.tenant_id))
  const user = await findUserByEmail(tx, wanted.email)
  if (user === undefined) throw new Error(`there is no user \`${wanted.email}\` in this tenant`)
  if (user.rehearsal) throw new Error(`the rehearsal made \`${wanted.email}\`, who can have no key; name a real person`)
  if (!user.active)
    throw new Error(`the user \`${wanted.email}\` is not active, so the key would not work; reactivate them`)
  if (user.suspended_until !== null)
    throw new Error(`the user \`${wanted.email}\` is suspended, so the key would not work yet; unsuspend them`)
  return issueKeyFor(tx, { ...wanted, user })
}

/** Like `issueKey`, for a user that was already read. */
export async function issueKeyFor(
  tx: Tx,
  {
    user,
    name,
    scopes,
    expires_in,
  }: Omit<KeyToIssue, 'email' | 'tenant_id'> & { user: { id: string; scopes: readonly string[] } },
): Promise<ApiKey & { key: string }> {
  if (!isName(name)) throw new Error(`the name of a key ${nameRule}`)
  if ([...name].length > 200) throw new Error('the name of a key is longer than 200 characters; use a shorter one')
  const held = requireKeyScopes(new Set(user.scopes), scopes === 'all' ? user.scopes : scopes)
  const end = expires_in === null ? null : new Date((await readNow(tx)).getTime() + expires_in * 1000).toISOString()
  const { id, text, secret_hash } = makeKeyText('api')
  const key = { id, name, secret_hash, scopes: held, created_by: user.id, expires_at: end }
  return { ...(await insertApiKey(operatorCtx(tx), key)), key: text }
}

/**
 * Has a tenant go live; false when it is live already.
 * @throws Error with a message for an unknown tenant, and for a suspended one: what its rules permit cannot be checked
 */
export async function setLive(database: Database, tenant_id: string, goLive: GoLive): Promise<boolean> {
  const tx = database.tenant(await requireTenant(database, tenant_id))
  if ((await findSuspension(tx)) !== undefined) throw new Error('the tenant is suspended; resume it first')
  return goLive(operatorCtx(tx), 'operator')
}

/** The mail domains of a tenant, and since when. */
export async function listMailDomains(database: Database, tenant_id: string): Promise<MailDomain[]> {
  return listTenantMailDomains(database.tenant(await requireTenant(database, tenant_id)))
}

/**
 * Gives a tenant a mail domain. `added`: false when it has it already. `shared`: another tenant has it too, so that it names no
 * tenant when somebody signs in by the global provider.
 * @throws Error with a message for an unknown tenant, for an invalid domain, and over the maximum number
 */
export async function addMailDomain(
  database: Database,
  wanted: { tenant_id: string; domain: string },
): Promise<{ domain: string; added: boolean; shared: boolean }> {
  const domain = requireMailDomain(wanted.domain)
  const tx = database.tenant(await requireTenant(database, wanted.tenant_id))
  const added = await insertMailDomain(operatorCtx(tx), domain)
  const shared = (await listTenantsOfMailDomain(database.work, domain)).length > 1
  if (added) return { domain, added, shared }
  const there = await listTenantMailDomains(tx)
  if (there.some((one) => one.domain === domain)) return { domain, added, shared }
  throw new Error(`the tenant has ${maxMailDomains} domains already; remove one first`)
}

/**
 * Removes a mail domain, effective from the next mail.
 * @throws Error with a message for an unknown tenant, and for a domain that the tenant does not have
 */
export async function removeMailDomain(
  database: Database,
  unwanted: { tenant_id: string; domain: string },
): Promise<{ domain: string }> {
  const domain = requireMailDomain(unwanted.domain)
  const tx = database.tenant(await requireTenant(database, unwanted.tenant_id))
  if (await deleteMailDomain(operatorCtx(tx), domain)) return { domain }
  throw new Error(`the tenant has no mail domain \`${domain}\`; \`mail-domain list\` shows its domains`)
}

function requireMailDomain(text: string): string {
  const domain = readMailDomain(text)
  if (domain === undefined) throw new Error(`\`${text}\` is not a valid domain; use one such as example.com`)
  return domain
}

/**
 * Gives a tenant a slug, in place of the one it has; false when it has this one already.
 * @throws Error with a message for an unknown tenant, for an invalid slug, and for one that another tenant has
 */
export async function setSlug(database: Database, { tenant_id, slug }: TenantSlug): Promise<boolean> {
  requireSlug(slug)
  const tx = database.tenant(await requireTenant(database, tenant_id))
  const holder = await findTenantOfSlug(database.work, slug)
  if (holder !== undefined && holder !== tx.tenant_id) {
    throw new Error(`the tenant ${holder} has the slug \`${slug}\`; choose another, or take it from that tenant first`)
  }
  return saveSlug(operatorCtx(tx), slug)
}

/**
 * Removes the slug of a tenant.
 * @throws Error with a message for an unknown tenant, and for a slug that the tenant does not have
 */
export async function removeSlug(database: Database, { tenant_id, slug }: TenantSlug): Promise<void> {
  requireSlug(slug)
  const tx = database.tenant(await requireTenant(database, tenant_id))
  if (await deleteSlug(operatorCtx(tx), slug)) return
  throw new Error(`the tenant does not have the slug \`${slug}\`; \`tenant list\` shows the one it has`)
}

type TenantSlug = { tenant_id: string; slug: string }

function requireSlug(text: string): void {
  const fault = slugFault(text)
  if (fault !== undefined) throw new Error(`\`${text}\` ${fault}`)
}
