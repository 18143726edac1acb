import { sql } from '../db/sql.ts'
import type { GrantView } from '../grants/grant.ts'
import { type ProgressRow, progressOf } from '../grants/grant-progress.ts'
import { progressColumn } from '../grants/grant-progress-store.ts'
import type { Tx } from '../kernel/context.ts'
import type { RequestStatus } from './request.ts'

/** Moments inside JSON are text of PostgreSQL's own form, so they come as milliseconds. */
type GrantJson = Pick<GrantView, 'id' | 'name' | 'status' | 'provisioning_status'> & {
  progress: ProgressRow
  activated_ms: number | null
  expires_ms: number | null
}

/** A request with its grants, oldest first: one trip. */
export async function findRequestStatus(
  tx: Tx,
  id: string,
): Promise<{ id: string; requester_id: string; status: RequestStatus; grants: GrantView[] } | undefined> {
  const [row] = await tx.read(sql<{
    id: string
    requester_id: string
    status: RequestStatus
    grants: GrantJson[]
  }>`select r.id, r.requester_id, r.status, coalesce((
      select jsonb_agg(jsonb_build_object('id', g.id, 'name', g.name, 'status', g.status,
          'provisioning_status', g.provisioning_status, 'activated_ms', floor(extract(epoch from g.activated_at) * 1000),
          'expires_ms', floor(extract(epoch from g.expires_at) * 1000), 'progress', ${progressColumn}) order by g.id)
        from access_grant g where g.tenant_id = r.tenant_id and g.request_id = r.id), '[]') as grants
    from access_request r where r.tenant_id = ${tx.tenant_id} and r.id = ${id}`)
  return row && { ...row, grants: row.grants.map(asView) }
}

/** A grant is made by an approval, so it is always an approved one. */
function asView({ activated_ms, expires_ms, progress, ...grant }: GrantJson): GrantView {
  return {
    ...grant,
    approved: true,
    ...(activated_ms !== null && { activated_at: new Date(activated_ms).toISOString() }),
    ...(expires_ms !== null && { expires_at: new Date(expires_ms).toISOString() }),
    ...progressOf(progress),
  }
}
