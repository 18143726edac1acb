import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { endsAreMoved, readClock, setBack } from '../../src/clock/clock-store.ts'
import { moveAllEnds } from '../../src/grants/move-ends.flow.ts'
import { after, extensionStage, hour } from '../support/extension-stage.ts'
import { openHouse } from '../support/house.ts'
import { until } from '../support/wait.ts'
import { startWorkers } from '../support/workers.ts'

/** What moves after a process has seen that the database's clock went back. The clock of the tests' database goes on as it is. */
const house = await openHouse()
const { database } = house
startWorkers(house)

const total = async () => (await readClock(database.service)).back_ms
const goBack = async (seconds: number) => setBack(database.work, await total(), seconds * 1_000)

type Moments = { clock_back_ms: string } & Record<
  'starts_at' | 'activated_at' | 'expires_at' | 'expiring_at' | 'held_since' | 'activate_by',
  string | null
>
async function momentsOf(grant: string): Promise<Moments> {
  const [row] = await house.asSuperuser<Moments>(
    `select clock_back_ms, starts_at, activated_at, expires_at, expiring_at, held_since, activate_by from access_grant
      where id = $1`,
    [grant],
  )
  assert.ok(row)
  return row
}
/** By how many seconds each moment of the second is before that of the first. */
function seconds(before: Moments, now: Moments) {
  const { clock_back_ms: _, ...moments } = before
  return Object.fromEntries(
    Object.keys(moments).map((name) => {
      const [one, other] = [before[name as 'expires_at'], now[name as 'expires_at']]
      return [name, one && other && (Date.parse(one) - Date.parse(other)) / 1_000]
    }),
  )
}

// Nothing of a former test is left to move.
beforeEach(async () => {
  await until('all ends are moved', () => moveAllEnds(database))
})

test('access that was given before ends after its time, and what is given afterwards keeps its end', async () => {
  const on = await extensionStage(house, 'set back')
  const [old, fresh] = [await on.given('400000000001', { minutes: 10 }), '400000000002']
  const before = await momentsOf(old.id)
  assert.equal(await goBack(2_000), true)
  // The workers may give it before and after the ends are moved.
  const given = await on.given(fresh, { minutes: 0 })
  assert.equal(await moveAllEnds(database), true)
  assert.deepEqual(seconds(before, await momentsOf(old.id)), {
    ...{ starts_at: null, activated_at: 2_000, expires_at: 2_000, expiring_at: 2_000, held_since: 2_000 },
    activate_by: 2_000,
  })
  assert.equal(await on.endOf(given.id), given.expires_at)
  const moved = (await on.eventsOf(old.id)).filter(({ type }) => type === 'grant.end_moved')
  assert.deepEqual(moved, [
    {
      type: 'grant.end_moved',
      data: { request_id: old.request, expires_at: moved[0]?.data.expires_at, clock_back_seconds: 2_000 },
    },
  ])
  assert.equal(Date.parse(String(moved[0]?.data.expires_at)), Date.parse(after(old.expires_at, -2_000)))
  // Of the hour 600 s are over, and 2,000 s more: it ends after 1,000 s, and at once if the clock goes back by so much again.
  assert.equal(await goBack(1_001), true)
  assert.equal(await moveAllEnds(database), true)
  await on.grantsAre(old.request, 'expired', 'deprovisioned')
  assert.equal(await on.heldAt('400000000001'), 0)
  assert.equal(await on.heldAt(fresh), 1)
})

test('a jump is added once, by the process that is first', async () => {
  const on = await extensionStage(house, 'two processes')
  const { id } = await on.given('400000000001', { minutes: 0 })
  const before = await momentsOf(id)
  const seen = await total()
  const done = await Promise.all([1, 2, 3].map(() => setBack(database.work, seen, 60_000)))
  assert.deepEqual(done.toSorted(), [false, false, true])
  await Promise.all([1, 2, 3].map(() => moveAllEnds(database)))
  assert.equal(seconds(before, await momentsOf(id)).expires_at, 60)
  assert.equal(await total(), seen + 60_000)
})

test('ends that a killed process did not move are moved later, each once', async () => {
  const on = await extensionStage(house, 'killed')
  const one = await on.given('400000000001', { minutes: 0 })
  const other = await on.given('400000000002', { minutes: 0 })
  const before = [await momentsOf(one.id), await momentsOf(other.id)] as const
  await goBack(60)
  // The first has moved, and the process was killed.
  await house.asSuperuser(
    `update access_grant set clock_back_ms = clock_back_ms(), expires_at = expires_at - interval '60 seconds'
      where id = $1`,
    [one.id],
  )
  assert.equal((await readClock(database.service)).ends_to_move, true)
  assert.equal(await moveAllEnds(database), true)
  assert.equal(seconds(before[0], await momentsOf(one.id)).expires_at, 60)
  assert.equal(seconds(before[1], await momentsOf(other.id)).expires_at, 60)
  await database.work.write([endsAreMoved(await total())])
  assert.equal((await readClock(database.service)).ends_to_move, false)
})

test('an extension begins where what it extends ends, also if it is asked for before that end has moved', async () => {
  const on = await extensionStage(house, 'extension')
  const former = await on.given('400000000001', { minutes: 40 })
  const ends = await momentsOf(former.id)
  await goBack(600)
  const extending = await on.extended(former.id)
  assert.equal(await moveAllEnds(database), true)
  const [now, then] = [await momentsOf(former.id), await momentsOf(extending.id)]
  assert.equal(seconds(ends, now).expires_at, 600)
  assert.equal(then.starts_at, now.expires_at)
  assert.equal(then.expires_at, after(now.expires_at ?? '', hour))
})

test('what waits for a moment waits no longer, and the lease of a dead process lasts no longer', async () => {
  const on = await extensionStage(house, 'work')
  const request = await on.ask(on.account('400000000001', { action: 'ReadOnly' }))
  const due = async () => {
    const [row] = await house.asSuperuser<{ due: number; lease: number | null }>(
      `select extract(epoch from next_look_at)::float8 as due,
        extract(epoch from lease_until - clock_timestamp())::float8 as lease from access_request where id = $1`,
      [request],
    )
    assert.ok(row)
    return row
  }
  const before = await due()
  await house.asSuperuser(
    `update access_request set lease_until = clock_timestamp() + interval '1 hour' where id = $1`,
    [request],
  )
  await goBack(600)
  const now = await due()
  assert.ok(Math.abs(before.due - now.due - 600) < 0.001, `${before.due - now.due} s`)
  assert.ok(now.lease !== null && now.lease <= 20)
})

test('many ends are moved, part by part', async () => {
  const on = await extensionStage(house, 'many')
  const { id } = await on.given('400000000001', { minutes: 0 })
  // As many as three parts, all of which end at one moment.
  await house.asSuperuser(
    `with made as (
        insert into entitlement select (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid(),
            'target_key', e.target_key || n))).*
        from entitlement e join access_grant g on g.entitlement_id = e.id, generate_series(1, 1200) n where g.id = $1
        returning tenant_id, id)
      insert into access_grant select (jsonb_populate_record(g, jsonb_build_object('id', gen_random_uuid(),
          'entitlement_id', made.id, 'resource_id', made.id))).*
      from access_grant g, made where g.id = $1`,
    [id],
  )
  const left = () =>
    house.asSuperuser(
      `select from access_grant where tenant_id = $1 and status = 'active' and clock_back_ms < clock_back_ms()`,
      [on.tenant_id],
    )
  await goBack(60)
  assert.equal((await left()).length, 1_201)
  assert.equal(await moveAllEnds(database), true)
  assert.equal((await left()).length, 0)
  const [{ ends } = { ends: 0 }] = await house.asSuperuser<{ ends: number }>(
    'select count(distinct expires_at)::int as ends from access_grant where tenant_id = $1',
    [on.tenant_id],
  )
  assert.equal(ends, 1)
})
