import { newId } from '../../src/kernel/id.ts'

type Query = (text: string, values?: unknown[]) => Promise<unknown>

/** A tenant with many policies and as many API keys. */
export type ManySettings = { tenant_id: string; providers: { many: string; few: string; oldest: string } }

/**
 * Inserts the tenant, in one statement for each table. Every twentieth policy has a rule. Most keys are revoked; of those that are not, most
 * expired. Every second key is of one identity provider, and few are of another. Only the oldest are of the third.
 */
export async function seedManySettings(query: Query, count: number): Promise<ManySettings> {
  const [tenant_id, maker] = [newId(), newId()]
  const providers = { many: newId(), few: newId(), oldest: newId() }
  await query(`insert into tenant (id, name) values ($1, 'many settings')`, [tenant_id])
  await query(
    `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
      values ($1, $2, 'maker@example.com', 'maker@example.com', 'Maker', 'local')`,
    [tenant_id, maker],
  )
  await query(
    `insert into identity_provider (tenant_id, id, name, provider_type)
      select $1::uuid, id, 'Directory', 'custom_scim' from unnest($2::uuid[]) id`,
    [tenant_id, Object.values(providers)],
  )
  await query(
    `insert into policy (tenant_id, id, name, description, priority, created_at)
      select $1::uuid, ${idOf('n', '$1')}, case when n % 2 = 0 then 'Access ' else 'Review ' end || n % 5000
          || case when n % 7000 = 1 then ' rare' else '' end, 'for the team ' || n % 30, n, ${momentOf('n')}
      from generate_series(1, $2::integer) n`,
    [tenant_id, count],
  )
  await query(
    `insert into policy_rule (tenant_id, id, policy_id, ordinal, effect, principal_scope_type, action_scope_type,
        action_ids, resource_scope_type, policy_text, audit_session)
      select $1::uuid, id, id, 0, 'permit', 'any', 'any', '{}', 'any', 'permit (principal, action, resource);', false
      from generate_series(20, $2::integer, 20) n, lateral (select ${idOf('n', '$1')} as id) ids`,
    [tenant_id, count],
  )
  await query(
    `insert into api_key (tenant_id, id, name, secret_hash, scopes, created_by, created_at, expires_at, revoked_at,
        kind, identity_provider_id)
      select $1::uuid, ${idOf('n', '$1')}, 'Deploy ' || n % 5000 || case when n % 700 = 1 then ' rare' else '' end,
        sha256(n::text::bytea), '{}', $3::uuid, ${momentOf('n')},
        case when n % 50 <> 3 then '2024-01-01'::timestamptz end,
        case when n % 10 <> 3 then '2024-01-01'::timestamptz end, case when provider is null then 'api' else 'scim' end,
        provider
      from generate_series(1, $2::integer) n, lateral (select case when n < 50 then $6::uuid
        when n % 2000 = 3 then $5::uuid when n % 2 = 1 then $4::uuid end as provider) providers`,
    [tenant_id, count, maker, providers.many, providers.few, providers.oldest],
  )
  return { tenant_id, providers }
}

/** As ids of `newId`, in the order of creation; the ids of keys differ among tenants. */
function idOf(n: string, tenant_id: string): string {
  return `(lpad(to_hex(1700000000000 + ${n} * 1000), 12, '0') || '70008000' || right(${tenant_id}::text, 12))::uuid`
}

function momentOf(n: string): string {
  return `'2024-01-01'::timestamptz + make_interval(secs => ${n} * 300)`
}
