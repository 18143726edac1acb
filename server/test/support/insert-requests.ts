import { newId } from '../../src/kernel/id.ts'
import type { TestDatabase } from './database.ts'

/** A request to insert: what it does not say is usual. `count`: so many alike, with ids of their own. */
export type InsertedRequest = {
  requester_id: string
  created_at: string
  count?: number
  type?: string
  id?: string
  action?: string
  reason?: string
  status?: string
  break_glass?: boolean
  duration_seconds?: number
  approved_duration_seconds?: number
  decided_by?: string
  extends?: string
}

/** Inserts requests, which pass no policy and wait without a deadline. Returns the id of the first. */
export async function insertRequests(
  { asSuperuser }: Pick<TestDatabase, 'asSuperuser'>,
  tenant_id: string,
  one: InsertedRequest,
): Promise<string> {
  const { requester_id, created_at, count = 1, type = 'cloud_account', id = '123456789012', action = 'ReadOnly' } = one
  const { reason = null, status = 'pending', break_glass = false, duration_seconds = 3_600 } = one
  const { approved_duration_seconds = null, decided_by = null, extends: extended = null } = one
  const ids = Array.from({ length: count }, newId)
  await asSuperuser(
    `insert into access_request (tenant_id, id, requester_id, resource_type, resource_id, action, reason, status,
        approval_mode, break_glass, duration_seconds, metadata, audit_session, places, asked_via, source_ip, created_at,
        next_look_at, approved_duration_seconds, decided_by, extends, held_seconds)
      select $1, n, $3, $4, $5, $6, $7, $8, 'require', $9, $10, '{}', false, '[]', 'token', '127.0.0.1', $11,
        case when $8 = 'pending' then 'infinity'::timestamptz end, $12, $13, $14::uuid,
        case when $14 is not null then 60 end
      from unnest($2::uuid[]) n`,
    [
      ...[tenant_id, ids, requester_id, type, id, action, reason, status, break_glass, duration_seconds, created_at],
      ...[approved_duration_seconds, decided_by, extended],
    ],
  )
  return ids[0] ?? ''
}
