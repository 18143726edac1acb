import { isoMoment, sql } from '../db/sql.ts'
import { emitEach } from '../events/emit.ts'
import type { Tx, WorkCtx } from '../kernel/context.ts'
import type { Target } from '../provisioners/driver.ts'
import type { GrantStatus } from './grant.ts'

/** A grant whose holder asks for a password. `target`: where it is given; null until that is known. */
export type GrantToSignIn = {
  user_id: string
  status: GrantStatus
  is_over: boolean
  provisioner_id: string | null
  target: Target | null
  /** Nothing may be changed at targets, or another one acts at this one. */
  is_held_back: boolean
}

export async function findGrantToSignIn(tx: Tx, id: string): Promise<GrantToSignIn | undefined> {
  const [row] = await tx.read(
    sql<GrantToSignIn>`select g.user_id, g.status, coalesce(g.expires_at <= clock_timestamp(), false) as is_over,
        e.provisioner_id, e.target, exists (select from installation where read_only_since is not null)
          or exists (select from target_claim c where c.tenant_id = e.tenant_id
            and c.provisioner_id = e.provisioner_id and c.contested_at is not null) as is_held_back
      from access_grant g left join entitlement e on e.tenant_id = g.tenant_id and e.id = g.entitlement_id
      where g.tenant_id = ${tx.tenant_id} and g.id = ${id}`,
  )
  return row
}

/**
 * Records that the holder receives a password, and returns the end of the access; undefined when the access has ended meanwhile. An end that
 * is under way commits first.
 */
export async function recordCredentials(ctx: WorkCtx, grant_id: string, login: string): Promise<string | undefined> {
  const { tx } = ctx
  const event = { type: 'grant.credentials_issued', subject_type: 'grant', data: { login } } as const
  const [[held]] = await tx.write([
    sql<{ until: string }>`with held as materialized (
        select g.id, g.request_id, ${isoMoment(sql`g.expires_at`)} as until from access_grant g
        where g.tenant_id = ${tx.tenant_id} and g.id = ${grant_id} and g.status = 'active'
          and g.expires_at > clock_timestamp()
        for no key update),
      emitted as (${emitEach(ctx, event, sql`held`)})
      select until from held`,
  ])
  return held?.until
}
