import { type ConnectionTarget, connectAlone } from '../server/src/db/client/connect.ts'
import type { People } from './sallyport.ts'

/** The number of rows of each kind: requests to read, and requests to approve. */
export type Rows = { read: number; pending: number; groups: number }

/** Ids of the rows begin with this, followed by twelve digits: `idOf`. */
export const idHead = '00000000-0000-7000-8000-'
export const firstNumber = 100_000_000_000
/** The first number of the pending requests. */
export const firstPending = 200_000_000_000

export const idOf = (number: number): string => `${idHead}${number}`

/** Copies the rows that `gather` made, many times; adds groups with members and roles. */
export async function fill(target: ConnectionTarget, rows: Rows, { tenant_id, approver }: People): Promise<void> {
  const client = await connectAlone(target)
  const clone = (table: string, set: string, where: string, first: number, count: number) =>
    client.query(
      `insert into ${table} select (jsonb_populate_record(one, jsonb_build_object(${set}))).*
        from ${table} one, generate_series(${first}::bigint, ${first}::bigint + ${count} - 1) number where ${where}`,
    )
  const id = `'id', '${idHead}' || number`
  await clone('access_request', id, `status = 'approved'`, firstNumber, rows.read)
  const active = `'status', 'active', 'provisioning_status', 'successful', 'next_look_at', null, 'activated_at', now(),
    'expires_at', now() + interval '10 hours', 'entitlement_id', null, 'expiring_at', null`
  const ofRequest = `'request_id', '${idHead}' || number`
  const one = `one.id = (select id from access_grant limit 1)`
  await clone('access_grant', `${id}, ${ofRequest}, ${active}`, one, firstNumber, rows.read)
  await clone(
    'access_request',
    `${id}, 'next_look_at', now() + interval '10 hours'`,
    `status = 'pending'`,
    firstPending,
    rows.pending,
  )
  await client.query(
    `insert into tenant_group (tenant_id, id, name, description, source)
      select $1, ('${idHead}' || number)::uuid, 'group ' || number, 'one of many', 'local'
      from generate_series(${firstNumber}::bigint, ${firstNumber}::bigint + $2::int - 1) number`,
    [tenant_id, rows.groups],
  )
  await client.query(
    `insert into group_member (tenant_id, group_id, user_id, membership_source)
      select tenant_id, id, $1, 'local' from tenant_group`,
    [approver.id],
  )
  await client.query(
    `insert into group_role (tenant_id, group_id, role_id) select tenant_id, id, 'user' from tenant_group`,
  )
  // The planner has no statistics of new rows.
  await client.query('vacuum analyze')
  await client.end()
}
