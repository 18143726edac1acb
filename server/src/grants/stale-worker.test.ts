import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { aLockIsWaitedFor } from '../../test/support/lock.ts'
import { seedManyGrants } from '../../test/support/many-grants.ts'
import { makeOrphans } from '../../test/support/sample-orphans.ts'
import { sql } from '../db/sql.ts'
import type { WorkItem } from '../jobs/claim.ts'
import { systemActor } from '../kernel/context.ts'
import { beginGrant, savePresent } from './batched-entitlement-store.ts'
import { beginGrants, noGrants } from './give-store.ts'
import { openEntitlements } from './open-entitlement-store.ts'
import { endOrphan } from './orphan-store.ts'
import { beginRevokes, type Settling, settle } from './take-store.ts'

/** A worker that lost its lease while it was away: its writes change nothing, alone or in a batch. */
const db = await testDatabase()
const { asSuperuser } = db

type Stage = { tx: ReturnType<typeof db.database.tenant>; stale: WorkItem; held: WorkItem }

/** Two entitlements whose grants have ended; the lease of one was lost to another worker. */
async function stage(): Promise<Stage> {
  const [tenant_id = ''] = await seedManyGrants(asSuperuser, 2, 1, '2026-01-01')
  const [one, other] = await asSuperuser<{ id: string }>(
    `update entitlement set generation = 7, lease_until = clock_timestamp() + interval '1 hour' where tenant_id = $1
      returning id`,
    [tenant_id],
  )
  assert.ok(one && other)
  const stale = { tenant_id, id: one.id, generation: '6' }
  return { tx: db.database.tenant(tenant_id), stale, held: { tenant_id, id: other.id, generation: '7' } }
}

/** All that is stored about an entitlement: itself, its grants, and the number of its events. */
async function kept({ tenant_id, id }: WorkItem): Promise<unknown> {
  return asSuperuser(
    `select to_jsonb(e) as entitlement,
        (select jsonb_agg(to_jsonb(g)) from access_grant g where g.tenant_id = e.tenant_id
          and g.entitlement_id = e.id) as grants,
        (select count(*) from event where event.tenant_id = e.tenant_id and subject_id = e.id::text) as told
      from entitlement e where tenant_id = $1 and id = $2`,
    [tenant_id, id],
  )
}

const ended = (item: WorkItem, last: Settling['last']): Settling => ({ item, due_at: '2026-01-01Z', wait_ms: 0, last })
const failure = {
  message: 'no',
  giving: false,
  permanent: false,
  clears_act: true,
  repeats_act: false,
  alarm: true,
  may_land: false,
  reference: null,
}

const writes: Record<string, (stage: Stage, items: WorkItem[]) => Promise<unknown>> = {
  'the check that ends expired grants': ({ tx }, items) => openEntitlements(tx, items),
  'the beginning of a revocation': ({ tx }, items) => beginRevokes(tx, items),
  'a reference to poll': ({ tx }, items) =>
    settle(
      tx,
      items.map((item) => ended(item, { under_way: 'r', wanted: true })),
    ),
  'a reference to poll, of unwanted access': ({ tx }, items) =>
    settle(
      tx,
      items.map((item) => ended(item, { under_way: 'r', wanted: false })),
    ),
  'that access is gone': ({ tx }, items) =>
    settle(
      tx,
      items.map((item) => ended(item, { gone: null })),
    ),
  'a failure': ({ tx }, items) =>
    settle(
      tx,
      items.map((item) => ended(item, { failure })),
    ),
  'the end of a run': ({ tx }, items) =>
    settle(
      tx,
      items.map((item) => ended(item, undefined)),
    ),
}

for (const [what, write] of Object.entries(writes)) {
  test(`a stale worker does not write ${what}, while others in the same batch do (F2)`, async () => {
    const on = await stage()
    // So that a failure and an end have something to change.
    if (!what.startsWith('the check')) {
      await openEntitlements(on.tx, [on.held])
      await asSuperuser(
        `update access_grant set status = 'revoked', provisioning_status = 'deprovisioning',
          ended_at = clock_timestamp()
          where tenant_id = $1 and status = 'active'`,
        [on.tx.tenant_id],
      )
    }
    if (what.startsWith('a reference')) await beginRevokes(on.tx, [on.held])
    const [staleBefore, heldBefore] = [await kept(on.stale), await kept(on.held)]
    await write(on, [on.stale, on.held])
    assert.deepEqual(await kept(on.stale), staleBefore)
    assert.notDeepEqual(await kept(on.held), heldBefore)
  })
}

test('unwanted access is settled to the same state as wanted access, and a due time set meanwhile stays', async () => {
  for (const wanted of [true, false]) {
    const { tx, held } = await stage()
    await asSuperuser(`update access_grant set status = 'revoked', ended_at = clock_timestamp() where tenant_id = $1`, [
      tx.tenant_id,
    ])
    const settled = async () => {
      const [row] = await asSuperuser<{ next: string; due_at: string }>(
        `select next_look_at::text as due_at, lease_until, act, act_reference, act_polls, gives,
          next_look_at > clock_timestamp() + interval '3 seconds' as waits from entitlement where id = $1`,
        [held.id],
      )
      assert.ok(row)
      return row
    }
    await beginRevokes(tx, [held])
    const { due_at } = await settled()
    await settle(tx, [{ item: held, due_at, wait_ms: 5_000, last: { under_way: 'r', wanted } }])
    const { due_at: _, ...first } = await settled()
    assert.deepEqual(first, {
      ...{ lease_until: null, act: 'revoke', act_reference: 'r', act_polls: 1, gives: false, waits: true },
    })
    const now = `update entitlement set next_look_at = '2026-01-01', gives = true where id = $1`
    const { due_at: before } = await settled()
    await asSuperuser(now, [held.id])
    await settle(tx, [{ item: held, due_at: before, wait_ms: 5_000, last: { under_way: 'r', wanted: false } }])
    const later = await settled()
    assert.equal(later.due_at.slice(0, 10), '2026-01-01')
    assert.deepEqual((await asSuperuser('select gives from entitlement where id = $1', [held.id]))[0], { gives: true })
  }
})

test('a stale worker learns that it lost the lease, and begins nothing (F2)', async () => {
  const { tx, stale, held } = await stage()
  const [lost, row] = await openEntitlements(tx, [stale, held])
  assert.equal(lost, undefined)
  assert.ok(row !== undefined)
  assert.deepEqual(await beginRevokes(tx, [stale, held]), [false, true])
})

test('a stale worker neither begins a grant nor records its access as present (F2)', async () => {
  const { tx, stale } = await stage()
  const { tenant_id, id } = stale
  await asSuperuser(
    `update access_grant set status = 'active', activated_at = clock_timestamp(),
      expires_at = clock_timestamp() + interval '1 hour'
      where tenant_id = $1`,
    [tenant_id],
  )
  const before = await kept(stale)
  assert.equal(await beginGrant(tx, { item: stale, permitted: noGrants, until: new Date(0) }), 'lease_lost')
  const permitted = { grant_ids: [id], rulesUnchanged: sql`true` }
  const presence = { item: stale, begun: [id], permitted, reference: null, ends_early: false }
  assert.deepEqual(await savePresent(tx, presence), [])
  assert.deepEqual(await kept(stale), before)
})

test('of two workers with one entitlement in a batch, the stale one does not take the answer of the other (F2)', async () => {
  const { tx, stale } = await stage()
  const current = { ...stale, generation: '7' }
  const both = [stale, current]
  const permitted = noGrants
  assert.deepEqual(await beginRevokes(tx, both), [false, true])
  assert.deepEqual(
    await beginGrants(
      tx,
      both.map((item) => ({ item, permitted, until: new Date(0) })),
    ),
    ['lease_lost', 'begun'],
  )
  assert.deepEqual(
    (await openEntitlements(tx, both)).map((row) => row !== undefined),
    [false, true],
  )
})

type InBatch = (tx: Stage['tx'], second: WorkItem, first: WorkItem) => Promise<unknown>
const parts: Record<string, InBatch> = {
  'that were evaluated by different rules': (tx, second, first) =>
    beginGrants(tx, [
      { item: second, permitted: { grant_ids: [], rulesUnchanged: sql`1 = 1` }, until: new Date(0) },
      { item: first, permitted: noGrants, until: new Date(0) },
    ]),
  'whose runs ended in different ways': (tx, second, first) =>
    settle(tx, [ended(second, { gone: null }), ended(first, { failure })]),
}

for (const [which, write] of Object.entries(parts)) {
  test(`entitlements ${which} are locked in the order of their ids`, async () => {
    const { tx, stale, held } = await stage()
    const [first, second] = [{ ...stale, generation: '7' }, held].sort((one, two) => (one.id < two.id ? -1 : 1))
    assert.ok(first && second)
    const { writing } = await tx.interactive(async (inside) => {
      const lock = (item: WorkItem) =>
        inside.read(sql`select from entitlement where tenant_id = ${tx.tenant_id} and id = ${item.id} for update`)
      await lock(first)
      const writing = write(tx, second, first)
      await aLockIsWaitedFor(db, inside)
      // If it held the second already, this would be a deadlock.
      await lock(second)
      return { writing }
    })
    await writing
  })
}

test('a check that is under way does not write over access that is taken over to be ended', async () => {
  const { tx, held } = await stage()
  const orphan = (await makeOrphans(db, tx.tenant_id)).at(-1)
  assert.ok(orphan?.orphan_id)
  const { id: provisioner_id, orphan_id } = orphan
  await asSuperuser(
    `update entitlement set observed = 'absent', held_before = false, drift = null, drifted_at = null, generation = 7,
      lease_until = clock_timestamp() + interval '1 hour', next_look_at = clock_timestamp() where id = $1`,
    [orphan_id],
  )
  const ctx = { tx, actor: systemActor, request_id: 'test' }
  assert.ok(await endOrphan(ctx, { provisioner_id, orphan_id }))
  await settle(tx, [ended({ ...held, id: orphan_id }, { gone: null })])
  const [taken] = await asSuperuser(
    'select observed, held_before, lease_until, next_look_at is not null as is_due from entitlement where id = $1',
    [orphan_id],
  )
  assert.deepEqual(taken, { observed: 'present', held_before: false, lease_until: null, is_due: true })
})

test('a grant in an unforeseen pair does not keep another grant of its entitlement from expiring', async () => {
  const { tx, stale, held } = await stage()
  await asSuperuser(
    `set session_replication_role = replica;
    update access_grant set provisioning_status = 'deprovisioning', entitlement_id = '${held.id}',
      expires_at = clock_timestamp() + interval '1 hour' where entitlement_id = '${stale.id}';
    set session_replication_role = origin`,
  )
  await openEntitlements(tx, [held])
  const statuses = await asSuperuser<{ status: string }>(
    'select status from access_grant where entitlement_id = $1 order by expires_at',
    [held.id],
  )
  assert.deepEqual(
    statuses.map(({ status }) => status),
    ['expired', 'active'],
  )
})
