import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addSetBack, readClock } from '../../src/clock/clock-store.ts'
import { connectAlone } from '../../src/db/client/connect.ts'
import { clockStage, movedBy } from '../support/clock-stage.ts'
import { after, extensionStage, hour } from '../support/extension-stage.ts'
import { openHouse } from '../support/house.ts'
import { until } from '../support/wait.ts'
import { startWorkers } from '../support/workers.ts'

/** What moves after a process has seen that the database's clock went back. The clock of the tests' database goes on as it is. */
const house = await openHouse()
const { database } = house
startWorkers(house)

const { startProcess, total, settled, goBack, addBack, momentsOf } = clockStage(house)

test('access that was given before ends after its time, and what is given afterwards keeps its end', async () => {
  const on = await extensionStage(house, 'set back')
  const [old, fresh] = [await on.given('400000000001', { minutes: 10 }), '400000000002']
  const before = await momentsOf(old.id)
  await addBack(2_000)
  const given = await on.given(fresh, { minutes: 0 })
  await settled(startProcess())
  assert.deepEqual(movedBy(before, await momentsOf(old.id)), {
    ...{ starts_at: null, activated_at: 2_000, expires_at: 2_000, expiring_at: 2_000, held_since: 2_000 },
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
  await addBack(1_001)
  await settled(startProcess())
  await on.grantsAre(old.request, 'expired', 'deprovisioned')
  assert.equal(await on.heldAt('400000000001'), 0)
  assert.equal(await on.heldAt(fresh), 1)
})

test('a jump is added once, by the process that is first, and only when it is certain', async () => {
  const on = await extensionStage(house, 'two processes')
  const { id } = await on.given('400000000001', { minutes: 0 })
  const [before, former] = [await momentsOf(id), await total()]
  const [one, other] = [startProcess(), startProcess()]
  await goBack(1_000)
  for (const { tick, pass } of [one, other]) {
    await tick()
    pass(9)
    await tick()
  }
  assert.equal(await total(), former, 'it is not certain yet')
  one.pass(2)
  other.pass(2)
  await Promise.all([one.tick(), other.tick()])
  await settled(one, other)
  const added = ((await total()) - former) / 1_000
  // To each of them 11 s have passed, in no time of the database.
  assert.ok(added > 1_010 && added < 1_012, `${added} s`)
  assert.ok(Math.abs(Number(movedBy(before, await momentsOf(id)).expires_at) - added) < 0.001)
  for (const { said } of [one, other]) {
    assert.deepEqual(
      said.map((line) => line.replace(/10\d\d s/, 'N s')),
      ['back', "the database's clock was set back by N s: ends of access move as far, so that none comes late"],
    )
  }
  // One that begins afterwards finds nothing missing, whatever processes are gone.
  const next = startProcess()
  await next.tick()
  next.pass(11)
  await next.tick()
  assert.ok((await total()) / 1_000 < former / 1_000 + 1_012)
  assert.deepEqual(next.said, [])
})

test('of processes that have read the same total one adds', async () => {
  const former = await total()
  await Promise.all([1, 2, 3].map(() => database.work.write([addSetBack(former, 60_000)])))
  assert.equal(await total(), former + 60_000)
})

test('a clock that is corrected within seconds moves nothing, and one that goes ahead moves nothing', async () => {
  const former = await total()
  const process = startProcess()
  await process.tick()
  // It went back by a minute, and is corrected.
  process.pass(60)
  await process.tick()
  await house.asSuperuser('update installation set clock_back_ms = clock_back_ms + 60000')
  await process.tick()
  await house.asSuperuser('update installation set clock_back_ms = clock_back_ms - 60000, clock_steady_ms = 0')
  assert.equal(await total(), former)
  const other = startProcess()
  await other.tick()
  // As if it had read a moment an hour earlier.
  other.pass(-3_600)
  await other.tick()
  assert.deepEqual(other.said, [
    'ahead',
    "the database's clock went ahead by 3600 s, or this process slept: access may end early",
  ])
  assert.equal(await total(), former)
})

test('ends that a killed process did not move are moved later, each once', async () => {
  const on = await extensionStage(house, 'killed')
  const one = await on.given('400000000001', { minutes: 0 })
  const other = await on.given('400000000002', { minutes: 0 })
  const before = [await momentsOf(one.id), await momentsOf(other.id)] as const
  await addBack(60)
  // The first has moved, and the process was killed.
  await house.asSuperuser(
    `update access_grant set clock_back_ms = clock_back_ms(), expires_at = expires_at - interval '60 seconds'
      where id = $1`,
    [one.id],
  )
  await settled(startProcess())
  assert.equal(movedBy(before[0], await momentsOf(one.id)).expires_at, 60)
  assert.equal(movedBy(before[1], await momentsOf(other.id)).expires_at, 60)
})

test('an extension begins where what it extends ends, also if it is asked for before that end has moved', async () => {
  const on = await extensionStage(house, 'extension')
  const former = await on.given('400000000001', { minutes: 40 })
  const ends = await momentsOf(former.id)
  await addBack(600)
  const extending = await on.extended(former.id)
  await settled(startProcess())
  const [now, then] = [await momentsOf(former.id), await momentsOf(extending.id)]
  assert.equal(movedBy(ends, now).expires_at, 600)
  assert.equal(then.starts_at, now.expires_at)
  assert.equal(then.expires_at, after(now.expires_at ?? '', hour))
})

test('a retry waits no longer than by the new clock, and the lease of a process that is gone lasts no longer', async () => {
  const on = await extensionStage(house, 'work')
  const { request } = await on.given('400000000001', { minutes: 0 })
  await on.inject({ throttled: 1_000 })
  const [grant] = await on.grantsOf(request)
  await on.call(on.people.user, 'POST', `/v1/grants/${grant?.id}/revoke`)
  await on.grantsAre(request, 'revoked', 'deprovisioning')
  // It waits for an hour, by the clock as it is set now, and a process holds it that is gone.
  await until('it waits', async () => {
    const rows = await house.asSuperuser(
      `update entitlement set next_look_at = clock_timestamp() + interval '1 hour',
          lease_until = clock_timestamp() + interval '1 hour'
        where tenant_id = $1 and lease_until is null returning id`,
      [on.tenant_id],
    )
    return rows.length > 0
  })
  await on.inject({})
  await addBack(3_600)
  await settled(startProcess())
  const [waiting] = await house.asSuperuser<{ look: number; lease: number }>(
    `select extract(epoch from next_look_at - clock_timestamp())::float8 as look,
      extract(epoch from lease_until - clock_timestamp())::float8 as lease from entitlement where tenant_id = $1`,
    [on.tenant_id],
  )
  assert.ok(waiting !== undefined && waiting.look <= 10 && waiting.lease <= 20)
  await house.asSuperuser(
    'update entitlement set lease_until = null, next_look_at = clock_timestamp() where tenant_id = $1',
    [on.tenant_id],
  )
  await on.grantsAre(request, 'revoked', 'deprovisioned')
})

test('a late effect is checked for no longer than after a call of now, and no less after one since the jump', async () => {
  const on = await extensionStage(house, 'late')
  const [former, since] = [await on.given('400000000001'), await on.given('400000000002')]
  const mayLand = (grant: string, set: string) =>
    house.asSuperuser<{ until: string; left: number }>(
      `update entitlement set may_land_until = ${set}
        where id = (select entitlement_id from access_grant where id = $1)
        returning may_land_until::text as until,
          extract(epoch from may_land_until - clock_timestamp())::float8 as left`,
      [grant],
    )
  await mayLand(former.id, `clock_timestamp() + interval '75 minutes'`)
  const [before] = await mayLand(since.id, `clock_timestamp() + interval '15 minutes'`)
  await addBack(3_600)
  await settled(startProcess())
  const [[moved], [kept]] = [
    await mayLand(former.id, 'may_land_until'),
    await mayLand(since.id, 'may_land_until'),
  ] as const
  assert.equal(kept?.until, before?.until)
  assert.ok(moved !== undefined && moved.left <= 15 * 60)
})

test('access that is held up holds up no other', async () => {
  const on = await extensionStage(house, 'held up')
  const [one, other] = [await on.given('400000000001'), await on.given('400000000002')]
  const before = [await momentsOf(one.id), await momentsOf(other.id)] as const
  const holder = await connectAlone(house.owner)
  await holder.query('begin')
  await holder.query(`set local app.tenant_id = '${on.tenant_id}'`)
  await holder.query(
    'select from entitlement where id = (select entitlement_id from access_grant where id = $1) for update',
    [one.id],
  )
  await addBack(60)
  const process = startProcess()
  await until('the other has moved', async () => {
    await process.tick()
    return movedBy(before[1], await momentsOf(other.id)).expires_at === 60
  })
  assert.equal(movedBy(before[0], await momentsOf(one.id)).expires_at, 0)
  assert.equal((await readClock(database.work)).ends_to_move, true)
  await holder.query('rollback')
  await holder.end()
  await settled(process)
  assert.equal(movedBy(before[0], await momentsOf(one.id)).expires_at, 60)
})

test('a run that is under way does not put the look off to the former end', async () => {
  const on = await extensionStage(house, 'under way')
  const { id } = await on.given('400000000001', { minutes: 0 })
  // It settles with the moment that it began with, and leaves any other as it is.
  const [running] = await house.asSuperuser<{ id: string; look: string }>(
    `update entitlement set lease_until = clock_timestamp() + interval '20 seconds', next_look_at = clock_timestamp()
      where id = (select entitlement_id from access_grant where id = $1) returning id, next_look_at::text as look`,
    [id],
  )
  await addBack(60)
  await settled(startProcess())
  const sameLook = await house.asSuperuser('select from entitlement where id = $1 and next_look_at = $2', [
    running?.id,
    running?.look,
  ])
  assert.equal(sameLook.length, 0)
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
  await addBack(60)
  assert.equal((await left()).length, 1_201)
  // A process that is gone holds one of them, by the clock as it was set: that waits for no part.
  await house.asSuperuser(
    `update entitlement set lease_until = clock_timestamp() + interval '1 hour'
      where id = (select entitlement_id from access_grant where id = $1)`,
    [id],
  )
  const process = startProcess()
  await process.tick()
  assert.ok((await left()).length > 0)
  const long = await house.asSuperuser(
    `select from entitlement where tenant_id = $1 and lease_until > clock_timestamp() + interval '20 seconds'`,
    [on.tenant_id],
  )
  assert.equal(long.length, 0)
  await settled(process)
  assert.equal((await left()).length, 0)
  const [{ ends } = { ends: 0 }] = await house.asSuperuser<{ ends: number }>(
    'select count(distinct expires_at)::int as ends from access_grant where tenant_id = $1',
    [on.tenant_id],
  )
  assert.equal(ends, 1)
})
