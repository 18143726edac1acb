import { sql } from '../db/sql.ts'
import type { GrantView } from '../grants/grant.ts'
import { type ProgressRow, progressOf } from '../grants/grant-progress.ts'
import { progressColumn } from '../grants/grant-progress-store.ts'
import type { Tx } from '../kernel/context.ts'
import type { RequestStatus } from './request.ts'

/** Timestamps inside JSON are text in PostgreSQL's format. */
type GrantJson = Pick<GrantView, 'id' | 'name' | 'status' | 'provisioning_status'> & {
  progress: ProgressRow
  activated_at: string | null
}

/** A request with its grants, oldest first; one round trip. */
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
      select json_agg(json_build_object('id', g.id, 'name', g.name, 'status', g.status,
          'provisioning_status', g.provisioning_status, 'activated_at', g.activated_at, 'progress', ${progressColumn})
          order by g.id)
        from access_grant g where g.tenant_id = r.tenant_id and g.request_id = r.id), '[]') as grants
    from access_request r where r.tenant_id = ${tx.tenant_id} and r.id = ${id}`)
  return row && { ...row, grants: row.grants.map(asView) }
}

/** Only an approval creates a grant, so every grant is approved. */
function asView({ activated_at, progress, ...grant }: GrantJson): GrantView {
  const { expires_at } = progress
  return {
    ...grant,
    approved: true,
    ...(activated_at !== null && { activated_at: new Date(activated_at).toISOString() }),
    ...(expires_at !== null && { expires_at: new Date(expires_at).toISOString() }),
    ...progressOf(progress),
  }
}
