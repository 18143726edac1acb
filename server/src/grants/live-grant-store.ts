import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { LiveGrant } from './grant.ts'

/** The user's live grant by this action on one of the places, the one that ends last; undefined where there is none. */
export async function findLiveGrant(
  tx: Tx,
  user_id: string,
  { action, places }: { action: string; places: readonly { type: string; id: string; permission_set?: string }[] },
): Promise<LiveGrant | undefined> {
  const rows = places.map(({ type, id, permission_set }) => ({ type, id, permission_set }))
  const [grant] = await tx.read(sql<LiveGrant>`select g.id, g.status, g.expires_at from access_grant g
    where g.tenant_id = ${tx.tenant_id} and g.user_id = ${user_id} and g.status in ('pending', 'active')
      and g.action = ${action}
      and exists (
        select from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
          as place (type text, id text, permission_set text)
        where g.resource_type = place.type and g.resource_id = place.id
          and g.permission_set is not distinct from place.permission_set)
    order by g.expires_at desc nulls last, g.id limit 1`)
  return grant
}

/**
 * The id of the live grant that gives what a target of this type names so, as a value to embed in another statement. What was there before
 * Sallyport gave it is no grant's.
 */
export function liveGrantGiving(tx: Tx, provisioner: string, target_key: Statement): Statement {
  return sql`(select g.id from entitlement e join access_grant g on g.tenant_id = e.tenant_id
      and g.entitlement_id = e.id and g.status in ('pending', 'active')
    where e.tenant_id = ${tx.tenant_id}::uuid and e.provisioner = ${provisioner}
      and e.target_key = ${target_key} and not e.held_before
    order by g.status, g.id limit 1)`
}
