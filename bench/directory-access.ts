import { setTimeout as pause } from 'node:timers/promises'
import type { Person } from './directory-people.ts'
import type { Database } from './ends.ts'

/** Gives each of these people a session, and a live grant that the sandbox holds. */
export async function seedAccess(database: Database, tenant_id: string, people: readonly Person[]): Promise<void> {
  await database.query('drop table if exists pg_temp.leaver')
  await database.query(
    `create temp table leaver as select id as user_id, gen_random_uuid() as request_id,
        jsonb_build_array(id, null, 'cloud_account', '444455556666', 'ReadOnly')::text as key,
        clock_timestamp() + interval '8 hours' as ends
      from unnest($1::uuid[]) id`,
    [people.map(({ id }) => id)],
  )
  await database.query(
    `insert into user_session (tenant_id, id, user_id, amr, auth_time, source_ip, ends_at, live_until)
      select $1, gen_random_uuid(), user_id, '{}', now(), '127.0.0.1', ends, ends from leaver`,
    [tenant_id],
  )
  await database.query(
    `insert into access_request (tenant_id, id, requester_id, resource_type, resource_id, action, status,
        approval_mode, break_glass, duration_seconds, metadata, audit_session, places, asked_via, source_ip)
      select $1, request_id, user_id, 'cloud_account', '444455556666', 'ReadOnly', 'approved', 'auto', false, 28800,
        '{}', false, '[]', 'token', '127.0.0.1' from leaver`,
    [tenant_id],
  )
  await database.query(`insert into sandbox_assignment (tenant_id, key) select $1, key from leaver`, [tenant_id])
  await database.query(
    `insert into entitlement (tenant_id, id, provisioner, target_key, target, held_before, observed, next_look_at)
      select $1, request_id, 'sandbox', key, jsonb_build_object('key', key), false, 'present', ends from leaver`,
    [tenant_id],
  )
  // A request, its grant and its entitlement share their id.
  await database.query(
    `insert into access_grant (tenant_id, id, request_id, user_id, name, resource_type, resource_id, action,
        duration_seconds, status, provisioning_status, entitlement_id, activated_at, expires_at, activate_by)
      select $1, request_id, request_id, user_id, 'ReadOnly', 'cloud_account', '444455556666', 'ReadOnly', 28800,
        'active', 'successful', request_id, now(), ends, ends from leaver`,
    [tenant_id],
  )
  await database.query('vacuum analyze user_session, access_request, entitlement, access_grant, sandbox_assignment')
}

/** Waits until every grant of these people is gone at the sandbox; the moment, in milliseconds since 1970, at which each revocation was called there. */
export async function dispatchesOf(database: Database, people: readonly Person[]): Promise<Map<string, number>> {
  const ids = people.map(({ id }) => id)
  for (let tries = 0; tries < 1_200; tries += 1) {
    const { rows } = await database.query<{ left: number }>(
      `select count(*)::integer as left from access_grant
        where user_id = any($1) and provisioning_status <> 'deprovisioned'`,
      [ids],
    )
    if (rows[0]?.left === 0) break
    await pause(100)
  }
  const { rows } = await database.query<{ id: string; ms: number; sessions: number }>(
    `select g.user_id as id, extract(epoch from min(o.created_at))::float8 * 1000 as ms,
        (select count(*)::integer from user_session s
          where s.tenant_id = g.tenant_id and s.user_id = g.user_id) as sessions
      from access_grant g join entitlement e on e.tenant_id = g.tenant_id and e.id = g.entitlement_id
      join sandbox_operation o on o.tenant_id = e.tenant_id and o.key = e.target_key and o.kind = 'delete'
      where g.user_id = any($1) group by g.tenant_id, g.user_id`,
    [ids],
  )
  if (rows.length !== people.length) throw new Error(`${rows.length} of ${people.length} revocations were dispatched`)
  if (rows.some(({ sessions }) => sessions > 0)) throw new Error('a session outlived its user')
  return new Map(rows.map(({ id, ms }) => [id, ms]))
}
