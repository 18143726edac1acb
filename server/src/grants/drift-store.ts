import { sql } from '../db/sql.ts'
import { emitEach } from '../events/emit.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { WorkCtx } from '../kernel/context.ts'
import type { LeftBehind } from '../provisioners/driver.ts'
import type { Change, Drift } from './entitlement.ts'
import { grantsOf, ours } from './entitlement-store.ts'

/**
 * Records a change made at the target by hand and emits its event. A removal, and a change of what Sallyport made, are reported on the grants
 * that want the access. An addition is reported on the last grant that had the access, or on the provisioner if no grant ever had it.
 * Such a change is put back at once and is no drift that lasts: until then, the state is not known. False: the lease was lost.
 */
export async function saveDrift(ctx: WorkCtx, item: WorkItem, drift: Drift | Change): Promise<boolean> {
  const { tx } = ctx
  const found = drift === 'changed' ? sql`observed = 'unknown'` : sql`drift = ${drift}, drifted_at = clock_timestamp()`
  const concerned =
    drift !== 'added'
      ? sql`g.status in ('pending', 'active')`
      : sql`g.id = (select last.id from access_grant last where last.tenant_id = g.tenant_id
          and last.entitlement_id = g.entitlement_id order by last.id desc limit 1)`
  const data = { drift, entitlement_id: item.id }
  const onGrants = { type: 'grant.drifted', subject_type: 'grant', data } as const
  const onProvisioner = { type: 'provisioner.drifted', subject_type: 'provisioner', data } as const
  const [drifted] = await tx.write([
    sql`with drifted as (
        update entitlement e set ${found}, suspected = false,
          updated_at = clock_timestamp()
        where ${ours(tx, item)} returning e.id, e.provisioner, e.provisioner_id),
      concerned as (
        select g.id, g.request_id from access_grant g, drifted where ${grantsOf(tx, item)} and ${concerned}),
      strays as (
        select coalesce(provisioner_id::text, provisioner) as id, null as request_id from drifted
        where not exists (select from concerned)),
      emitted as (${emitEach(ctx, onGrants, sql`concerned`)}),
      emitted_strays as (${emitEach(ctx, onProvisioner, sql`strays`)})
      select id from drifted`,
  ])
  return drifted.length > 0
}

/**
 * Reports once what the holder left at the target, on the last grant that had the access. An end that fails and begins again reports nothing
 * twice. Access that no grant had is reported as drift alone.
 */
export async function saveLeftBehind(ctx: WorkCtx, item: WorkItem, { objects, total }: LeftBehind): Promise<void> {
  const data = { objects, total }
  await ctx.tx.write([
    sql`with last as (
        select g.id, g.request_id from access_grant g
        where ${grantsOf(ctx.tx, item)} and exists (select from entitlement e where ${ours(ctx.tx, item)})
        order by g.id desc limit 1),
      unreported as (
        select last.* from last where not exists (select from event e where e.tenant_id = ${ctx.tx.tenant_id}
          and e.subject_id = last.id::text and e.type = 'grant.objects_left'))
      ${emitEach(ctx, { type: 'grant.objects_left', subject_type: 'grant', data }, sql`unreported`)}`,
  ])
}
