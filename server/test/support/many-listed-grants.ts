import { newId } from '../../src/kernel/id.ts'
import { inParts } from './in-parts.ts'
import { type ManyRequests, requestIdOf, seedManyRequests } from './many-requests.ts'

type Query = (text: string, values?: unknown[]) => Promise<unknown>

/** A tenant with `count` grants of a year. `provisioners`: one that serves many of them, and one that serves few. */
export type ManyListedGrants = ManyRequests & { provisioners: readonly string[] }

/**
 * Inserts a tenant of a thousand users with `count` grants, five of each request: half of them held by the first user. The newest tenth is
 * held by one user and active, nearly all others have expired, and each other state is rare or old.
 */
export async function seedManyListedGrants(query: Query, count: number): Promise<ManyListedGrants> {
  const many = await seedManyRequests(query, count / 5)
  const { tenant_id, users } = many
  const provisioners = Array.from({ length: 500 }, () => newId())
  await query(
    `insert into provisioner (tenant_id, id, name, provisioner_type) select $1, unnest($2::uuid[]), 'p', 'sandbox'`,
    [tenant_id, provisioners],
  )
  await query(
    `insert into cloud_account (tenant_id, id, name, account_id, metadata, rank)
      select $1, account, 'an account', account, '{}', 0
      from generate_series(0, 4999) n, lpad(n::text, 12, '0') account`,
    [tenant_id],
  )
  await inParts(count / 5, (from, until) =>
    query(
      `update access_request set decided_by = $2 where tenant_id = $1
        and id between ${requestIdOf('$3::integer')} and ${requestIdOf('$4::integer')}`,
      [tenant_id, users[500], from, until],
    ),
  )
  await inParts(count, (from, until) =>
    query(
      `insert into entitlement (tenant_id, id, provisioner, provisioner_id, target_key, target, held_before, observed)
      select $1, ${idOf('n')}, 'sandbox',
        case when n % 1000 = 5 then ($2::uuid[])[500] when n % 2 = 0 then ($2::uuid[])[1] end, n::text, '{}', false,
        'present' from generate_series($3::integer, $4::integer) n`,
      [tenant_id, provisioners, from, until],
    ),
  )
  await inParts(count, (from, until) => query(insertGrants, [tenant_id, count, users[500], from, until]))
  await query(
    `update entitlement set drift = 'removed', drifted_at = clock_timestamp() where tenant_id = $1
      and id in (select entitlement_id from access_grant where tenant_id = $1 and resource_id like '%99')`,
    [tenant_id],
  )
  return { ...many, provisioners: [provisioners[0] ?? '', provisioners[499] ?? ''] }
}

/** The id of a grant, and of its entitlement. */
function idOf(n: string): string {
  return `(lpad(to_hex(1700000000000 + ${n} * 100), 12, '0') || '70008000' || lpad(to_hex(${n}), 12, '0'))::uuid`
}

/** `n` counts the grants in the order of their creation. */
const insertGrants = `
  insert into access_grant (tenant_id, id, request_id, user_id, name, resource_type, resource_id, action,
    duration_seconds, status, provisioning_status, entitlement_id, activated_at, expires_at, activate_by, ended_at,
    ended_by, created_at)
  select $1, ${idOf('n')}, r.id,
    r.requester_id, 'a grant', case when n % 1000 = 7 then 'cloud_db_instance' else 'cloud_account' end,
    lpad((n % 5000)::text, 12, '0'), case when n % 2500 = 8 then 'Administrator' when n < 100 then 'Former'
      else 'ReadOnly' end, 3600, status, provisioning_status, ${idOf('n')}, case when was_active then began end,
    case when was_active then ends end, began, case when status not in ('pending', 'active') then ends end,
    case when status = 'revoked' then $3::uuid end, began
  from generate_series($4::integer, $5::integer) n
  cross join lateral (select id, requester_id, created_at from access_request
    where tenant_id = $1 and id = ${requestIdOf('((n + 4) / 5)')}) r
  cross join lateral (
    select case when n % 2000 = 3 then 'pending' when n > $2::integer * 0.9 then 'active'
      when n % 500 = 1 then 'failed' when n < 200 then 'revoked' else 'expired' end as status) s
  cross join lateral (
    select status not in ('pending', 'failed') as was_active, r.created_at + make_interval(secs => n % 5) as began,
      r.created_at + make_interval(hours => (n::bigint * 7919 % 300)::integer) as ends,
      case status when 'pending' then case when n % 4000 = 3 then 'attempting' else 'not_attempted' end
        when 'active' then case when n % 700 = 2 then 'not_attempted' else 'successful' end
        when 'failed' then 'failed'
        else case when n % 1500 = 10 then 'deprovisioning_failed' when n < 1000 then 'deprovisioning'
          else 'deprovisioned' end end as provisioning_status) p`
