import { mayHoldLost, wasBefore } from '../db/at-target.ts'
import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import type { Sighting } from '../provisioners/driver.ts'
import type { ProvisionerRef } from '../provisioners/drivers.ts'
import { isMade, isWanted, landsNoMore } from './entitlement-store.ts'
import { insertOrphans, orphanOf, orphansIn } from './orphan-store.ts'
import { betweenSweepsSeconds, maxCompared, type Sweep, sweptEarlierSeconds, sweptEverySeconds } from './sweep.ts'
import { isStillSwept, stillSweeps } from './sweep-lease-store.ts'

/**
 * An entitlement at rest, as the ledger has it. `due`: it is checked regardless of what the target shows. `drifted`: it was reported. `foreign`: it
 * was at the target before any grant of the ledger.
 */
export type Compared = Pick<Sighting, 'key' | 'target'> & {
  id: string
  given_until_ms?: number | null
  present: boolean
  due: boolean
  drifted: boolean
  foreign: boolean
}

/** From the start of a sweep to that of the next. */
const interval = sql`make_interval(secs => ${sweptEverySeconds} - ${sweptEarlierSeconds} * random())`

/**
 * Ensures that a provisioner's access is swept. Nearly always a sweep exists already, and nothing is written. A sweep that finds
 * nothing is idle, and ends only after another such sweep; access given meanwhile wakes it here. `isServed`: the provisioner
 * still exists.
 */
export function keepSwept(tx: Tx, { provisioner, provisioner_id }: ProvisionerRef, isServed: Statement): Statement {
  const next = sql`clock_timestamp() + ${interval}`
  return sql`insert into sweep (tenant_id, id, provisioner, provisioner_id, next_look_at)
    select ${tx.tenant_id}::uuid, ${newId()}::uuid, ${provisioner}::text, ${provisioner_id}::uuid, ${next}
    where not exists (select from sweep s where s.tenant_id = ${tx.tenant_id}
      and s.provisioner_id is not distinct from ${provisioner_id}::uuid and s.next_look_at is not null and not s.idle)
      and ${isServed}
    on conflict (tenant_id, provisioner_id) do update
      set idle = false, next_look_at = coalesce(sweep.next_look_at, ${next}),
      swept_at = case when sweep.next_look_at is null then clock_timestamp() else sweep.swept_at end`
}

/** Undefined if the lease was lost. */
export async function openSweep(tx: Tx, item: WorkItem): Promise<Sweep | undefined> {
  const [sweep] = await tx.read(
    sql<Sweep>`select provisioner, provisioner_id, failures, clock_timestamp()::text as began_at,
        (select p.version from provisioner p where p.tenant_id = s.tenant_id and p.id = s.provisioner_id)
          as provisioner_version, i.epoch::float8 as epoch, i.adopted_epoch is not distinct from i.epoch as is_adopted,
        s.listed_epoch <> i.epoch and exists (
          select from provisioner p where p.tenant_id = s.tenant_id and p.id = s.provisioner_id
            and ${wasBefore}) as is_whole,
        exists (select from orphan o where o.tenant_id = s.tenant_id and o.provisioner_id = s.provisioner_id
          and o.origin <> 'foreign_set') as has_orphans
      from sweep s, installation i where ${stillSweeps(tx, item)}`,
  )
  return sweep
}

/**
 * Entitlements of a provisioner that are at rest, in the order of their ids after `after`: those that are wanted, drifted, or
 * were revoked in the last `days`. Access that was there before us and that no grant wants is left out.
 */
export function findCompared(tx: Tx, of: ProvisionerRef, after: string | undefined, days: number): Promise<Compared[]> {
  return tx.read(
    sql<Compared>`select e.id, e.target_key as key, e.target, e.observed = 'present' as present,
        (extract(epoch from e.given_until) * 1000)::float8 as given_until_ms,
        e.drift is not null and coalesce((select p.corrects_drift from provisioner p
          where p.tenant_id = e.tenant_id and p.id = e.provisioner_id), false) as due, e.drift is not null as drifted,
        e.held_before as foreign
      from entitlement e where e.tenant_id = ${tx.tenant_id} and e.provisioner = ${of.provisioner}
        and e.provisioner_id is not distinct from ${of.provisioner_id}::uuid and e.act is null
        and e.observed <> 'unknown' and ${after === undefined ? sql`true` : sql`e.id > ${after}`}
        and (e.drift is not null or case when e.held_before then ${isWanted} else e.observed = 'present'
          or e.updated_at > clock_timestamp() - make_interval(days => ${days}) end)
      order by e.id limit ${maxCompared}`,
  )
}

/** The ledger's rows for these keys. A key without a row was never given by us. */
export function findByKey(tx: Tx, { provisioner }: ProvisionerRef, keys: readonly string[]): Promise<Compared[]> {
  return tx.read(
    sql<Compared>`select e.id, e.target_key as key, e.target, e.act is not null or e.observed <> 'absent' as present,
      false as due, e.drift is not null as drifted, e.held_before as foreign
      from entitlement e where e.tenant_id = ${tx.tenant_id} and e.provisioner = ${provisioner}
        and e.target_key = any(${[...keys]}::text[])`,
  )
}

/**
 * Makes entitlements due for a check within so many seconds. An old page of a list proves nothing: entitlements that changed
 * within the last minute, or are changing, are left alone, and the check decides by its own reading of the target. A run that began
 * before knows nothing of the suspicion: a moment of its own keeps that run from putting the check off.
 */
export async function suspect(tx: Tx, item: WorkItem, ids: readonly string[], withinSeconds: number): Promise<void> {
  await tx.write([
    sql`with suspects as (
        select e.id from entitlement e where e.tenant_id = ${tx.tenant_id} and e.id = any(${[...ids]}::uuid[])
          and e.act is null and e.observed <> 'unknown' and not e.suspected
          and e.updated_at < clock_timestamp() - interval '1 minute'
          and ${isStillSwept(tx, item)}
        order by e.id for no key update)
      update entitlement e set suspected = true,
        may_land_until = case when not ${landsNoMore(sql`e`)} then e.may_land_until end,
        next_look_at = case when e.lease_until is not null then clock_timestamp()
          else least(e.next_look_at, clock_timestamp() + random() * make_interval(secs => ${withinSeconds})) end
      from suspects where e.tenant_id = ${tx.tenant_id} and e.id = suspects.id`,
  ])
}

/** The maximum number of keys in an event. */
const maxNamed = 20

/** The maximum number of strays kept of a provisioner, plus one page. The target is not ours, and its list may never end. */
const maxStrays = 10_000

/**
 * Whether another provisioner of the tenant gives the stray, under another name of the same target. Its own sweep sees to it. What is
 * made has a login of its own, so the login tells that it is one and the same.
 */
function isGivenByAnother(tx: Tx, { provisioner, provisioner_id }: ProvisionerRef): Statement {
  return sql`(${isMade(sql`stray.target`)} and exists (select from entitlement e where e.tenant_id = ${tx.tenant_id}
    and e.provisioner = ${provisioner} and e.provisioner_id <> ${provisioner_id}::uuid and ${isMade(sql`e.target`)}
    and e.target ->> 'login' = stray.target ->> 'login' and (e.act is not null or e.observed <> 'absent')))`
}

/** Whether the mark of the stray names another provisioner of the tenant, whose own sweep sees to it. */
function isNamedForAnother(tx: Tx, { provisioner_id }: ProvisionerRef): Statement {
  return sql`exists (select from provisioner p where p.tenant_id = ${tx.tenant_id}
    and p.id <> ${provisioner_id}::uuid and p.id::text = stray.provisioner_id)`
}

/**
 * Saves access with our mark that no grant of the ledger gave, marks it as not ours, and emits an event. It is left untouched, until a sweep or a
 * person ends what was provably given in an earlier epoch.
 */
export async function saveStrays(ctx: WorkCtx, item: WorkItem, of: Sweep, strays: readonly Sighting[]): Promise<void> {
  const { tx } = ctx
  const rows = strays.map((stray) => ({ id: newId(), ...orphanOf(of, stray) }))
  const ours = rows.filter(({ origin }) => origin === 'ours').length
  const data = { drift: 'added', found: strays.length, ours, keys: strays.slice(0, maxNamed).map(({ key }) => key) }
  const subject_id = of.provisioner_id ?? of.provisioner
  await tx.write([
    sql`with strays as materialized (${orphansIn(rows)}),
      kept as (
        insert into entitlement (tenant_id, id, provisioner, provisioner_id, target_key, target, held_before, observed,
          drift, drifted_at)
        select ${tx.tenant_id}::uuid, stray.id, ${of.provisioner}::text, ${of.provisioner_id}::uuid, stray.key,
          stray.target, true, 'present', 'added', clock_timestamp()
        from strays stray where ${isStillSwept(tx, item)}
          and not ${isGivenByAnother(tx, of)} and not ${isNamedForAnother(tx, of)}
          and (select count(*) from (select from entitlement e where e.tenant_id = ${tx.tenant_id} and e.held_before
            and e.provisioner_id is not distinct from ${of.provisioner_id}::uuid and e.drift = 'added'
            limit ${maxStrays}) kept_before) < ${maxStrays}
        on conflict (tenant_id, provisioner, target_key) do nothing returning id),
      orphaned as (${insertOrphans(tx, of, sql`strays stray join kept on kept.id = stray.id`)})
      ${emit(ctx, { type: 'provisioner.drifted', subject_type: 'provisioner', subject_id, data }, sql`kept`)}`,
  ])
}

/**
 * What a sweep found out. `isNeeded`: another one is needed in any case. `wakesSweep`: the target makes its sweep due by itself. `epoch`: in which
 * it read all that the target holds; undefined: it did not.
 */
export type Swept = { isNeeded: boolean; wakesSweep: boolean; epoch: number | undefined }

/** The sweep is complete. An entitlement in progress also keeps it active; an end that is far off does not where the target wakes its sweep. */
export async function closeSweep(
  tx: Tx,
  item: WorkItem,
  began_at: string,
  { isNeeded, wakesSweep, epoch }: Swept,
): Promise<void> {
  const soon = wakesSweep ? sql`clock_timestamp() + make_interval(secs => ${sweptEverySeconds})` : sql`'infinity'`
  const isWatched = sql`(${isNeeded}::boolean or exists (select from entitlement e where e.tenant_id = s.tenant_id
    and e.provisioner_id is not distinct from s.provisioner_id and (e.act is not null or e.next_look_at <= ${soon})))`
  await tx.write([
    sql`update sweep s set lease_until = null, swept_at = ${began_at}::timestamptz, failures = 0, last_error = null,
        listed_epoch = coalesce(${epoch ?? null}::bigint, s.listed_epoch), idle = not ${isWatched},
        next_look_at = case when ${isWatched} or not s.idle then ${began_at}::timestamptz + ${interval} end
      where ${stillSweeps(tx, item)}`,
  ])
}

/** The sweep was interrupted and begins again after `seconds`. `message`: undefined if nothing failed. */
export async function putOffSweep(tx: Tx, item: WorkItem, seconds: number, message: string | undefined): Promise<void> {
  await tx.write([
    sql`update sweep s set lease_until = null, next_look_at = clock_timestamp() + make_interval(secs => ${seconds}),
        failures = s.failures + ${message === undefined ? 0 : 1},
        last_error = coalesce(${message ?? null}, s.last_error)
      where ${stillSweeps(tx, item)}`,
  ])
}

/**
 * The other sweeps of the tenant that are due go behind those of other tenants, in the same order. A slow sweep does this at its end: the place that
 * it leaves is for another tenant.
 */
export async function letOthersSweep(tx: Tx, { id }: WorkItem): Promise<void> {
  const waits = sql`s.tenant_id = ${tx.tenant_id} and s.id <> ${id} and s.next_look_at <= clock_timestamp()
    and (s.lease_until is null or s.lease_until <= clock_timestamp())`
  await tx.write([
    sql`with clock as materialized (select clock_timestamp() as now),
      placed as materialized (
        select s.id, row_number() over (order by s.next_look_at, s.id) as place from sweep s where ${waits}),
      moved as (
        select s.id, placed.place from placed join sweep s on s.id = placed.id where ${waits}
        for no key update of s skip locked)
      update sweep s set next_look_at = clock.now + moved.place * interval '1 microsecond' from moved, clock
      where s.tenant_id = ${tx.tenant_id} and s.id = moved.id`,
  ])
}

/**
 * Spreads the sweeps at a start: the one that was swept longest ago begins first, and each gets a moment of its own. Few are swept within
 * seconds, many within `sweptEverySeconds`. A sweep whose own moment is earlier keeps it: further starts change little, and a process that
 * restarts again and again still sweeps all. Run it as `sallyport_work`.
 */
export function spreadSweeps(): Statement {
  return sql`with clock as materialized (select clock_timestamp() as now),
      placed as materialized (
        select tenant_id, id, row_number() over (order by swept_at, id) - 1 as place, count(*) over () as total
        from sweep where next_look_at is not null),
      moved as (
        select s.tenant_id, s.id, m.moment
        from placed p cross join clock
        cross join lateral (select now + p.place * make_interval(secs =>
          least(${betweenSweepsSeconds}::float8, ${sweptEverySeconds}::float8 / p.total)) as moment) m
        join sweep s on s.tenant_id = p.tenant_id and s.id = p.id
        where (s.lease_until is null or s.lease_until <= now) and (s.next_look_at <= now or s.next_look_at > m.moment)
        for no key update of s skip locked)
    update sweep s set next_look_at = moved.moment from moved where s.tenant_id = moved.tenant_id and s.id = moved.id`
}

/**
 * Makes a sweep due for each target that was there before this epoch and was not swept in it, also where the ledger knows of nothing there. Run it
 * as `sallyport_work` when an epoch begins.
 */
export function sweepEachTarget(): Statement {
  return sql`insert into sweep (tenant_id, id, provisioner, provisioner_id, next_look_at)
    select p.tenant_id, gen_random_uuid(), p.provisioner_type, p.id,
      clock_timestamp() + random() * make_interval(secs => least(${betweenSweepsSeconds}::float8 * count(*) over (),
        ${sweptEverySeconds}::float8))
    from provisioner p, installation i
    where p.provisioner_type <> 'sandbox' and ${wasBefore}
      and (p.enabled or exists (select from sweep s where s.tenant_id = p.tenant_id and s.provisioner_id = p.id))
      and not exists (select from sweep s where s.tenant_id = p.tenant_id and s.provisioner_id = p.id
        and s.listed_epoch = i.epoch)
    on conflict (tenant_id, provisioner_id) do update set idle = false,
      next_look_at = least(coalesce(sweep.next_look_at, 'infinity'), excluded.next_look_at)`
}

/** The same for a provisioner that is enabled only now: nothing else would make its sweep due before a grant there. */
export function sweepEnabled({ tenant_id }: Tx, provisioner_id: string): Statement {
  return sql`insert into sweep (tenant_id, id, provisioner, provisioner_id, next_look_at)
    select p.tenant_id, ${newId()}::uuid, p.provisioner_type, p.id, clock_timestamp() from provisioner p
    where p.tenant_id = ${tenant_id} and p.id = ${provisioner_id} and ${mayHoldLost}
    on conflict (tenant_id, provisioner_id) do update set idle = false,
      next_look_at = least(coalesce(sweep.next_look_at, 'infinity'), excluded.next_look_at)`
}

/** How far sweeps are behind, and how many entitlements have drifted, up to `maxCounted`. */
export type DriftLoad = { drifted: number; oldest_sweep_seconds: number }

const maxCounted = 10_000

/** Across tenants, for monitoring; read it as `sallyport_work`. */
export function driftLoad(): Statement<DriftLoad> {
  return sql<DriftLoad>`select
    (select count(*)::int from (select from entitlement where drift is not null limit ${maxCounted}) e) as drifted,
    (select coalesce(extract(epoch from statement_timestamp() - min(swept_at)), 0)::float8 from sweep
      where next_look_at is not null) as oldest_sweep_seconds`
}
