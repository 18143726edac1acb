import { sql } from '../db/sql.ts'
import { emitWithFacts } from '../events/emit.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import type { ForeignSighting, Sighting } from '../provisioners/driver.ts'
import type { EndOrphan } from '../provisioners/orphan.ts'
import { settingSeconds } from '../settings/setting-store.ts'
import { asJson, isWanted } from './entitlement-store.ts'
import { maxEndedOfOrphans, type Sweep } from './sweep.ts'
import { isStillSwept } from './sweep-lease-store.ts'

const ofProvisioner = (tx: Tx, provisioner_id: string | null): Statement =>
  sql`o.tenant_id = ${tx.tenant_id} and o.provisioner_id = ${provisioner_id}::uuid`

type OrphanRow = {
  key: string
  target: object
  origin: 'ours' | 'unproven'
  epoch: number | null
  grant_id: string | null
}

/** An origin in this very epoch proves nothing: what it gave is in the ledger. */
export function orphanOf(
  { epoch }: Pick<Sweep, 'epoch'>,
  { key, target, origin, provisioner_id }: Sighting,
): OrphanRow {
  const whose = { key, target, provisioner_id: provisioner_id ?? null }
  if (origin == null || origin.epoch >= epoch) return { ...whose, origin: 'unproven', epoch: null, grant_id: null }
  return { ...whose, origin: 'ours', epoch: origin.epoch, grant_id: origin.grant_id }
}

/** Such rows, with their ids, each key once: a target may list access twice. */
export function orphansIn(rows: readonly (OrphanRow & { id: string })[]): Statement {
  return sql`select distinct on (key) * from jsonb_to_recordset(${asJson(rows)}::jsonb)
    as stray (id uuid, key text, target jsonb, origin text, epoch bigint, grant_id uuid, provisioner_id text)`
}

/** The insert of orphans from rows `stray` as above, under the ids of their entitlements. */
export function insertOrphans(tx: Tx, { provisioner_id, began_at }: Sweep, strays: Statement): Statement {
  return sql`insert into orphan as o (tenant_id, id, provisioner_id, target_key, target, origin, epoch, grant_id,
      first_seen_at, listed_at)
    select ${tx.tenant_id}::uuid, stray.id, ${provisioner_id}::uuid, stray.key, stray.target, stray.origin, stray.epoch,
      stray.grant_id, ${began_at}::timestamptz, ${began_at}::timestamptz
    from ${strays} where ${provisioner_id}::uuid is not null
    on conflict (tenant_id, provisioner_id, target_key) do update set listed_at = excluded.listed_at`
}

/**
 * Access that the ledger has as gone, or as having been there before its grants, and that was given in an earlier epoch, as its mark proves: the
 * grant that gave it is lost. What was reported before, and left, stays.
 */
export async function saveGivenAgain(
  tx: Tx,
  item: WorkItem,
  sweep: Sweep,
  again: readonly (Sighting & { id: string })[],
): Promise<void> {
  const rows = again.map((one) => ({ id: one.id, ...orphanOf(sweep, one) })).filter(({ origin }) => origin === 'ours')
  if (rows.length === 0) return
  await tx.write([
    sql`with strays as materialized (${orphansIn(rows)})
      ${insertOrphans(
        tx,
        sweep,
        sql`(select strays.* from strays join entitlement e on e.tenant_id = ${tx.tenant_id} and e.id = strays.id
          where ${isStillSwept(tx, item)} and e.drift is null) stray`,
      )}`,
  ])
}

/** Access that a sweep sees again. */
export async function seeAgain(tx: Tx, item: WorkItem, sweep: Sweep, keys: readonly string[]): Promise<void> {
  await tx.write([
    sql`update orphan o set listed_at = ${sweep.began_at}::timestamptz
      where ${ofProvisioner(tx, sweep.provisioner_id)} and o.target_key = any(${[...keys]}::text[])
        and ${isStillSwept(tx, item)}`,
  ])
}

/** The maximum number of rows about foreign sets of a provisioner, plus one page. */
const maxForeign = 10_000

/** Access by sets that Sallyport did not make, which the ledger does not know. */
export async function saveForeign(
  tx: Tx,
  item: WorkItem,
  { provisioner, provisioner_id, began_at }: Sweep,
  sightings: readonly ForeignSighting[],
): Promise<void> {
  const rows = sightings.map((one) => ({ id: newId(), ...one }))
  await tx.write([
    sql`insert into orphan as o (tenant_id, id, provisioner_id, target_key, target, origin, exclusive, first_seen_at,
        listed_at)
      select distinct on (seen.key) ${tx.tenant_id}::uuid, seen.id, ${provisioner_id}::uuid, seen.key, seen.target,
        'foreign_set', seen.exclusive, ${began_at}::timestamptz, ${began_at}::timestamptz
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as seen (id uuid, key text, target jsonb, exclusive boolean)
      where ${isStillSwept(tx, item)} and not exists (select from entitlement e where e.tenant_id = ${tx.tenant_id}
          and e.provisioner = ${provisioner}::text and e.target_key = seen.key)
        and ((select count(*) from (select from orphan o where ${ofProvisioner(tx, provisioner_id)}
            limit ${maxForeign}) kept) < ${maxForeign}
          or exists (select from orphan o where ${ofProvisioner(tx, provisioner_id)} and o.target_key = seen.key))
      on conflict (tenant_id, provisioner_id, target_key) do update
        set listed_at = excluded.listed_at, exclusive = excluded.exclusive`,
  ])
}

/**
 * Of the orphans `o` with their entitlements `e`: those that may be ended. What was not ours is taken over only where no act is under way. The
 * ledger may have it as absent: not every target can be asked about one access, and the sweep has listed it.
 */
const isEndable = sql`(o.origin = 'ours' and o.ending_since is null and e.act is null and not ${isWanted}
  and (e.observed = 'absent' or e.observed = 'present' and (e.held_before or e.drift = 'added')))`

/**
 * The entitlement becomes ours, and due: it is revoked as any access that no grant wants. A check that is under way knows nothing of it, and would
 * write over it: it loses its lease.
 */
const takenOver = sql`generation = e.generation + 1, lease_until = null, held_before = false, observed = 'present',
  drift = null, drifted_at = null, suspected = false, next_look_at = clock_timestamp(), updated_at = clock_timestamp()`

const aboutOrphan = (provisioner_id: string | null, what: 'ending' | 'ended') =>
  ({
    type: `provisioner.orphan_${what}`,
    subject_type: 'provisioner',
    subject_id: provisioner_id ?? '',
  }) as const

/**
 * Ends what an earlier epoch of this installation gave, and what this sweep saw again after the second look's time. Where a sweep lists more than
 * it may end, whenever it was first seen, it ends none, and holds all of it back for a person.
 */
export async function endOrphans(ctx: WorkCtx, item: WorkItem, { provisioner_id, began_at }: Sweep): Promise<void> {
  const { tx } = ctx
  const { count, share } = maxEndedOfOrphans
  const held = sql`(select count(*) from entitlement e where e.tenant_id = ${tx.tenant_id}
    and e.provisioner_id = ${provisioner_id}::uuid and e.observed = 'present' and not e.held_before)`
  // What is held is counted only where it matters.
  const limit = sql`case when found <= ${count}::int then ${count}::int
    else greatest(${count}::int, (${held} * ${share}::float8)::int) end`
  const isListedNow = sql`(o.origin = 'ours' and o.ending_since is null and not o.held_back
    and o.listed_at = ${began_at}::timestamptz)`
  const heldBack = {
    type: 'provisioner.orphans_held_back',
    subject_type: 'provisioner',
    subject_id: provisioner_id ?? '',
  } as const
  await tx.write([
    sql`with endable as materialized (
        select o.id, o.target_key, o.grant_id from orphan o join entitlement e on e.tenant_id = o.tenant_id
          and e.id = o.id
        where ${ofProvisioner(tx, provisioner_id)} and ${isEndable} and not o.held_back
          and o.epoch < (select epoch from installation) and o.listed_at = ${began_at}::timestamptz
          and o.first_seen_at <= ${began_at}::timestamptz
            - make_interval(secs => ${settingSeconds(tx, 'orphans.second_look_seconds')})
          and ${isStillSwept(tx, item)} order by o.id for no key update of e),
      counted as materialized (
        select found, ${limit} as limit from (
          select count(*)::int as found from orphan o where ${ofProvisioner(tx, provisioner_id)} and ${isListedNow}) f),
      taken as (
        update entitlement e set ${takenOver} from endable, counted
        where e.tenant_id = ${tx.tenant_id} and e.id = endable.id and found <= counted.limit returning e.id),
      ending as (
        update orphan o set ending_since = clock_timestamp() from taken
        where o.tenant_id = ${tx.tenant_id} and o.id = taken.id
        returning o.id, ${factsOf(sql`o`)} as facts),
      held_back as (
        update orphan o set held_back = true from counted
        where ${ofProvisioner(tx, provisioner_id)} and ${isListedNow} and found > counted.limit
          and ${isStillSwept(tx, item)} returning o.id),
      too_many as (select jsonb_build_object('found', found, 'limit', counted.limit) as facts from counted
        where exists (select from held_back)),
      emitted as (${emitWithFacts(ctx, heldBack, sql`too_many`)})
      ${emitWithFacts(ctx, aboutOrphan(provisioner_id, 'ending'), sql`ending`)}`,
  ])
}

function factsOf(o: Statement): Statement {
  return sql`jsonb_build_object('orphan_id', ${o}.id, 'key', ${o}.target_key, 'grant_id', ${o}.grant_id)`
}

/** A person ends an orphan that is ours. False: there is none, or it may not be ended now. */
export const endOrphan: EndOrphan = async (ctx, { provisioner_id, orphan_id }) => {
  const { tx } = ctx
  const [ended] = await tx.write([
    sql<{ id: string }>`with taken as (
        update entitlement e set ${takenOver} from orphan o
        where ${ofProvisioner(tx, provisioner_id)} and o.id = ${orphan_id}::uuid and e.tenant_id = o.tenant_id
          and e.id = o.id and ${isEndable}
        returning e.id),
      ending as (
        update orphan o set ending_since = clock_timestamp() from taken
        where o.tenant_id = ${tx.tenant_id} and o.id = taken.id returning o.id, ${factsOf(sql`o`)} as facts),
      emitted as (${emitWithFacts(ctx, aboutOrphan(provisioner_id, 'ending'), sql`ending`)})
      select id from ending`,
  ])
  return ended.length > 0
}

/**
 * Forgets what this sweep did not list: it is gone from the target. What was being ended stays until the ledger has seen it gone, and an event
 * says so. `lists`: the target lists what it holds. Else only what was being ended is known to be gone.
 */
export async function forgetGone(
  ctx: WorkCtx,
  item: WorkItem,
  { provisioner_id, began_at }: Sweep,
  lists: boolean,
): Promise<void> {
  const { tx } = ctx
  await tx.write([
    sql`with gone as (
        delete from orphan o where ${ofProvisioner(tx, provisioner_id)} and o.origin <> 'foreign_set'
          and o.listed_at < ${began_at}::timestamptz and ${isStillSwept(tx, item)}
          and (${lists}::boolean or o.ending_since is not null)
          and not exists (select from entitlement e where e.tenant_id = o.tenant_id and e.id = o.id
            and o.ending_since is not null and (e.observed <> 'absent' or e.act is not null))
        returning o.id, o.ending_since, ${factsOf(sql`o`)} as facts),
      ended as (select id, facts from gone where ending_since is not null)
      ${emitWithFacts(ctx, aboutOrphan(provisioner_id, 'ended'), sql`ended`)}`,
  ])
}

/** Forgets what a list of foreign sets that was read to its end did not name. */
export async function forgetForeign(tx: Tx, item: WorkItem, { provisioner_id, began_at }: Sweep): Promise<void> {
  await tx.write([
    sql`delete from orphan o where ${ofProvisioner(tx, provisioner_id)} and o.origin = 'foreign_set'
      and o.listed_at < ${began_at}::timestamptz and ${isStillSwept(tx, item)}`,
  ])
}

/** Whether another sweep is needed for what was found: something is to be ended, or is being ended. */
export async function hasOrphansToEnd(tx: Tx, provisioner_id: string | null): Promise<boolean> {
  const found = await tx.read(
    sql`select from orphan o join entitlement e on e.tenant_id = o.tenant_id and e.id = o.id
      where ${ofProvisioner(tx, provisioner_id)} and o.origin = 'ours' and not o.held_back and not ${isWanted} limit 1`,
  )
  return found.length > 0
}
