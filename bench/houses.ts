import { makeKeyText } from '../server/src/api-keys/api-key-text.ts'
import { newId } from '../server/src/kernel/id.ts'
import type { Database } from './ends.ts'
import type { People } from './sallyport.ts'

/** A person who asks for access, and an approver of the same tenant, each with an API key. */
export type Asker = { tenant_id: string; key: string; approver_key: string }

/** Both kinds of access that people ask for. */
export const byRule = 'AutoAccess'
export const byPerson = 'ReadOnlyAccess'

/** What a tenant of the bench is copied from: the tenant that `gather` set up, row by row. */
const copied = ['role', 'tenant_user', 'user_role', 'policy', 'policy_rule']

/** Copies the tenant until there are `tenants` of them, and adds people until there are `people` in all, spread over them. */
export async function openHouses(
  database: Database,
  { tenant_id, approver }: People,
  { tenants, people }: { tenants: number; people: number },
): Promise<Asker[]> {
  const tenant_ids = [tenant_id, ...Array.from({ length: tenants - 1 }, newId)]
  await database.query(
    `insert into tenant select (jsonb_populate_record(one, jsonb_build_object('id', copy, 'slug', null))).*
      from tenant one, unnest($2::uuid[]) copy where one.id = $1 and copy <> $1`,
    [tenant_id, tenant_ids],
  )
  for (const table of copied) await copyRows(database, table, tenant_id, tenant_ids)
  const each = Math.ceil(people / tenants)
  const approvers = tenant_ids.map((id) => ({ tenant_id: id, user_id: approver.id, ...makeKeyText('api') }))
  const askers = tenant_ids.flatMap((id) =>
    Array.from({ length: each }, () => ({ tenant_id: id, user_id: newId(), ...makeKeyText('api') })),
  )
  await database.query(
    `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
      select tenant_id, id, id || '@bench.example', id || '@bench.example', 'Asker', 'local'
      from unnest($1::uuid[], $2::uuid[]) as one (tenant_id, id)`,
    [askers.map((one) => one.tenant_id), askers.map((one) => one.user_id)],
  )
  await database.query(
    `insert into user_role (tenant_id, user_id, role_id) select tenant_id, id, 'user'
      from unnest($1::uuid[], $2::uuid[]) as one (tenant_id, id)`,
    [askers.map((one) => one.tenant_id), askers.map((one) => one.user_id)],
  )
  await insertKeys(database, approvers, ['requests:approve', 'requests:read'])
  await insertKeys(database, askers, ['requests:create', 'requests:read'])
  const keys = new Map(approvers.map((one) => [one.tenant_id, one.text]))
  return askers.map((one) => ({
    tenant_id: one.tenant_id,
    key: one.text,
    approver_key: keys.get(one.tenant_id) ?? '',
  }))
}

async function copyRows(database: Database, table: string, from: string, to: readonly string[]): Promise<void> {
  const { rows } = await database.query<{ columns: string }>(
    `select string_agg(quote_ident(attname), ', ') as columns from pg_attribute
      where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''
        and attname <> 'tenant_id'`,
    [table],
  )
  const columns = rows[0]?.columns ?? ''
  await database.query(
    `insert into ${table} (tenant_id, ${columns}) select copy, ${columns}
      from ${table}, unnest($2::uuid[]) copy where tenant_id = $1 and copy <> $1`,
    [from, to],
  )
}

export type Key = { tenant_id: string; user_id: string; id: string; secret_hash: Buffer }

/** Inserts API keys of users. */
export async function insertKeys(database: Database, keys: readonly Key[], scopes: readonly string[]): Promise<void> {
  await database.query(
    `insert into api_key (tenant_id, id, name, secret_hash, scopes, created_by, kind)
      select tenant_id, id, 'Bench', decode(secret_hash, 'hex'), $5::text[], user_id, 'api'
      from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[]) as key (tenant_id, id, secret_hash, user_id)`,
    [
      keys.map((key) => key.tenant_id),
      keys.map((key) => key.id),
      keys.map((key) => key.secret_hash.toString('hex')),
      keys.map((key) => key.user_id),
      [...scopes],
    ],
  )
}
