import { newId } from '../../src/kernel/id.ts'
import { type ManyRequests, seedManyRequests } from './many-requests.ts'

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
  await query('update access_request set decided_by = $2 where tenant_id = $1', [tenant_id, users[500]])
  await query(
    `insert into entitlement (tenant_id, id, provisioner, provisioner_id, target_key, target, held_before, observed)
      select $1, gen_random_uuid(), 'sandbox',
        case when n % 1000 = 5 then ($2::uuid[])[500] when n % 2 = 0 then ($2::uuid[])[1] end, n::text, '{}', false,
        'present' from generate_series(1, $3::integer) n`,
    [tenant_id, provisioners, count],
  )
  await query(insertGrants, [tenant_id, count, users[500]])
  await query(
    `update entitlement set drift = 'removed', drifted_at = clock_timestamp() where tenant_id = $1
      and id in (select entitlement_id from access_grant where tenant_id = $1 and resource_id like '%99')`,
    [tenant_id],
  )
  return { ...many, provisioners: [provisioners[0] ?? '', provisioners[499] ?? ''] }
}

/** `n` counts the grants in the order of their creation. */
const insertGrants = `
  insert into access_grant (tenant_id, id, request_id, user_id, name, resource_type, resource_id, action,
    duration_seconds, status, provisioning_status, entitlement_id, activated_at, expires_at, activate_by, ended_at,
    ended_by, created_at)
  select $1, (lpad(to_hex(1700000000000 + n * 100), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid, r.id,
    r.requester_id, 'a grant', case when n % 1000 = 7 then 'cloud_db_instance' else 'cloud_account' end,
    lpad((n % 5000)::text, 12, '0'), case when n % 2500 = 8 then 'Administrator' when n < 100 then 'Former'
      else 'ReadOnly' end, 3600, status, provisioning_status, e.id, case when was_active then began end,
    case when was_active then ends end, began, case when status not in ('pending', 'active') then ends end,
    case when status = 'revoked' then $3::uuid end, began
  from (select id, requester_id, created_at, row_number() over (order by created_at) as place
    from access_request where tenant_id = $1) r
  join generate_series(1, $2::integer) n on r.place = (n + 4) / 5
  join entitlement e on e.tenant_id = $1 and e.target_key = n::text
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
