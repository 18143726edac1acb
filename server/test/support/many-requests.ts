import { newId } from '../../src/kernel/id.ts'
import { inParts } from './in-parts.ts'

type Query = (text: string, values?: unknown[]) => Promise<unknown>

/** A tenant with `count` requests of a year. Their ids begin with what `newId` puts first: the time. */
export type ManyRequests = { tenant_id: string; users: readonly string[] }

/**
 * Inserts a tenant of a thousand users with `count` requests: half of them made by the first user, and the newest tenth by the last. The 500th user
 * decided a third, and the 501st a few of the oldest. Resources, actions and reasons have few words, so that many requests share each.
 */
export async function seedManyRequests(query: Query, count: number): Promise<ManyRequests> {
  const tenant_id = newId()
  const users = Array.from({ length: 1_000 }, () => newId())
  await query(`insert into tenant (id, name) values ($1, 'many requests')`, [tenant_id])
  await query(
    `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
      select $1, id, id || '@example.com', id || '@example.com', 'User ' || n, 'local'
      from unnest($2::uuid[]) with ordinality as u (id, n)`,
    [tenant_id, users],
  )
  await inParts(count, (from, until) =>
    query(
      `insert into access_request (tenant_id, id, requester_id, resource_type, resource_id, action, reason, status,
        approval_mode, break_glass, duration_seconds, metadata, audit_session, places, asked_via, source_ip, created_at,
        decided_by, next_look_at)
      select $1, ${requestIdOf('n')},
        ($2::uuid[])[case when n > $3::integer * 0.9 then 10 when n % 2 = 0 then 1 else 2 + n / 2 % 7 end],
        case when n % 1000 = 7 then 'cloud_db_instance' else 'cloud_account' end,
        lpad((n % 5000)::text, 12, '0'), 'ReadOnly', 'because of INC-' || n % 700,
        case when n % 200 = 3 then 'pending' when n % 500 = 1 then 'denied' when n < 100 then 'expired'
          else 'approved' end,
        'require', n % 5000 = 3, 3600, '{}', false, '[]', 'token', '127.0.0.1',
        '2024-01-01'::timestamptz + make_interval(secs => n * 300),
        case when n < 100 or n % 200 = 3 then null when n < $3::integer * 0.02 and n % 10 = 5 then ($2::uuid[])[501]
          when n % 3 = 0 then ($2::uuid[])[500] end,
        case when n % 200 = 3 then 'infinity'::timestamptz end
      from generate_series($4::integer, $5::integer) n`,
      [tenant_id, users, count, from, until],
    ),
  )
  return { tenant_id, users }
}

/** The id of the request with this number: as those of `newId`, in the order of creation. */
export function requestIdOf(n: string): string {
  return `(lpad(to_hex(1700000000000 + ${n} * 1000), 12, '0') || '70008000' || lpad(to_hex(${n}), 12, '0'))::uuid`
}
