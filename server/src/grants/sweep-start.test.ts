import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { spreadSweeps } from './sweep-store.ts'

/** How sweeps are spread at a start. No worker runs here. */
const db = await testDatabase()

type Due = { seconds: number }

/** As many tenants, each with a sweep that is due by this text; the last ones ended `age` and up to 240 seconds ago, evenly spread. */
async function seed(count: number, due: string, age = 28_800) {
  await db.asSuperuser('delete from sweep')
  await db.asSuperuser('delete from tenant')
  await db.asSuperuser(`insert into tenant (id, name) select gen_random_uuid(), 'many' from generate_series(1, $1)`, [
    count,
  ])
  await db.asSuperuser(
    `insert into sweep (tenant_id, id, provisioner, swept_at, next_look_at)
      select id, gen_random_uuid(), 'sandbox', swept_at, ${due}
      from (select id, now() - make_interval(secs => $1 + 240.0 * row_number() over () / $2) as swept_at
        from tenant) seeded`,
    [age, count],
  )
}
const start = () => db.database.work.write([spreadSweeps()])
/** The moment by the database's clock, as seconds. */
async function clock() {
  const [now] = await db.asSuperuser<Due>('select extract(epoch from clock_timestamp())::float8 as seconds')
  assert.ok(now)
  return now.seconds
}
/** The moments at which sweeps are due, as seconds, in the order of when each was swept last. */
async function dueMoments() {
  const sweeps = await db.asSuperuser<Due>(
    `select extract(epoch from next_look_at)::float8 as seconds from sweep where next_look_at is not null
      order by swept_at`,
  )
  return sweeps.map(({ seconds }) => seconds)
}

test('few sweeps begin within seconds of a start, also those that were not due yet', async () => {
  for (const due of [`now() - interval '1 hour'`, `now() + interval '200 seconds'`]) {
    await seed(20, due)
    await start()
    const [now, sweeps] = [await clock(), await dueMoments()]
    assert.equal(sweeps.length, 20)
    for (const moment of sweeps) assert.ok(moment <= now + 2, `due in ${moment - now} s`)
  }
})

test('after a long stop many sweeps are spread evenly over their interval, those that wait longest first', async () => {
  await seed(4_800, `now() - interval '1 hour'`)
  const before = await clock()
  await start()
  const [after, due] = [await clock(), await dueMoments()]
  const [first] = due
  assert.equal(due.length, 4_800)
  assert.ok(first !== undefined && first >= before && first <= after, 'the first is due at once')
  for (const [place, moment] of due.entries()) {
    const expected = first + place * (240 / 4_800)
    assert.ok(Math.abs(moment - expected) < 0.001, `place ${place}: due ${moment - first} s after the first`)
  }
})

test('a second start moves no sweep by more than it took, and hurries none', async () => {
  await seed(4_800, `now() - interval '1 hour'`)
  const before = await clock()
  await start()
  const first = await dueMoments()
  await start()
  const took = (await clock()) - before
  for (const [place, moment] of (await dueMoments()).entries()) {
    const later = moment - (first[place] ?? 0)
    assert.ok(later >= 0 && later <= took, `place ${place}: ${later} s later, of ${took} s`)
  }
})

test('a start leaves sweeps that go on in time nearly as they are', async () => {
  await seed(4_800, 'null', 0)
  const seeded = await clock()
  await db.asSuperuser(`update sweep set next_look_at = swept_at + interval '240 seconds'`)
  await db.asSuperuser(`update sweep set next_look_at = clock_timestamp() + interval '1 hour'
    where id = (select id from sweep order by swept_at desc limit 1)`)
  const [kept] = await db.asSuperuser<{ id: string; due: string }>(
    `update sweep set next_look_at = clock_timestamp() + interval '120 seconds'
      where id = (select id from sweep order by swept_at desc offset 1 limit 1)
      returning id, next_look_at::text as due`,
  )
  assert.ok(kept)
  await start()
  const started = await clock()
  const due = await db.asSuperuser('select from sweep where id = $1 and next_look_at <= $2', [kept.id, kept.due])
  assert.equal(due.length, 1, 'none is put off')
  const sweeps = await dueMoments()
  // 200 are due in ten seconds. Those that came due before the start are spread over its first seconds.
  const soon = sweeps.filter((moment) => moment < started + 10).length
  const overdue = 20 * (started - seeded)
  assert.ok(soon > 100 && soon < 320 + overdue, `${soon} in ten seconds`)
  assert.ok(Math.max(...sweeps) <= started + 240, 'none is due later than an interval from now')
})

test('a start moves neither a sweep that runs nor one that rests', async () => {
  await seed(2, `now() - interval '1 hour'`)
  const [running, resting] = await db.asSuperuser<{ id: string }>('select id from sweep')
  await db.asSuperuser(`update sweep set lease_until = clock_timestamp() + interval '20 seconds' where id = $1`, [
    running?.id,
  ])
  await db.asSuperuser('update sweep set next_look_at = null where id = $1', [resting?.id])
  const kept = () => db.asSuperuser('select to_jsonb(s) as sweep from sweep s order by id')
  const before = await kept()
  await start()
  assert.deepEqual(await kept(), before)
})
