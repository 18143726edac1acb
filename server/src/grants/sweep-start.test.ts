import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { spreadSweeps } from './sweep-store.ts'

/** How sweeps are spread at a start. No worker runs here. */
const db = await testDatabase()

type Due = { seconds: number; last: number }

/** As many tenants, each with a sweep that is due by this text; the last one ended `age` and up to 240 seconds ago. */
async function seed(count: number, due: string, age = 28_800) {
  await db.asSuperuser('delete from sweep')
  await db.asSuperuser('delete from tenant')
  await db.asSuperuser(`insert into tenant (id, name) select gen_random_uuid(), 'many' from generate_series(1, $1)`, [
    count,
  ])
  await db.asSuperuser(
    `insert into sweep (tenant_id, id, provisioner, swept_at, next_look_at)
      select id, gen_random_uuid(), 'sandbox', now() - make_interval(secs => $1 + 240 * random()), ${due} from tenant`,
    [age],
  )
}
const start = () => db.database.work.write([spreadSweeps()])
/** Seconds from now at which sweeps are due, in the order of when each was swept last. */
const dueIn = () =>
  db.asSuperuser<Due>(
    `select extract(epoch from next_look_at - now())::float8 as seconds,
        extract(epoch from swept_at)::float8 as last from sweep where next_look_at is not null order by swept_at`,
  )

test('few sweeps begin within seconds of a start, also those that were not due yet', async () => {
  for (const due of [`now() - interval '1 hour'`, `now() + interval '200 seconds'`]) {
    await seed(20, due)
    await start()
    const sweeps = await dueIn()
    assert.equal(sweeps.length, 20)
    for (const { seconds } of sweeps) assert.ok(seconds <= 2, `due in ${seconds} s`)
  }
})

test('after a long stop many sweeps are spread evenly over their interval, those that wait longest first', async () => {
  await seed(4_800, `now() - interval '1 hour'`)
  await start()
  const sweeps = await dueIn()
  const due = sweeps.map(({ seconds }) => seconds)
  assert.deepEqual(
    due,
    [...due].sort((one, other) => one - other),
  )
  const inEach = Array.from({ length: 24 }, (_, part) => due.filter((seconds) => Math.floor(seconds / 10) === part))
  // The time between the start and this reading of it moves all of them.
  for (const { length } of inEach.slice(1, -1)) assert.ok(length >= 199 && length <= 201, `${length} in ten seconds`)
  assert.ok(Math.max(...due) <= 240)
})

test('a second start moves no sweep by more than it took, and hurries none', async () => {
  await seed(4_800, `now() - interval '1 hour'`)
  await start()
  const first = await dueIn()
  await start()
  const second = await dueIn()
  for (const [place, { seconds }] of second.entries()) {
    assert.ok(Math.abs(seconds - (first[place]?.seconds ?? 0)) < 20, `place ${place}: ${seconds} s`)
  }
})

test('a start leaves sweeps that go on in time nearly as they are', async () => {
  await seed(4_800, 'null', 0)
  await db.asSuperuser(`update sweep set next_look_at = swept_at + interval '240 seconds'`)
  await db.asSuperuser(`update sweep set next_look_at = clock_timestamp() + interval '1 hour'
    where id = (select id from sweep order by swept_at desc limit 1)`)
  const [kept] = await db.asSuperuser<{
    id: string
  }>(`update sweep set next_look_at = clock_timestamp() + interval '5 seconds'
    where id = (select id from sweep order by swept_at desc offset 1 limit 1) returning id`)
  await start()
  const due = await db.asSuperuser("select from sweep where id = $1 and next_look_at < now() + interval '5 seconds'", [
    kept?.id,
  ])
  assert.equal(due.length, 1, 'none is put off')
  const sweeps = await dueIn()
  const soon = sweeps.filter(({ seconds }) => seconds < 10).length
  assert.ok(soon > 100 && soon < 320, `${soon} in ten seconds`)
  assert.ok(Math.max(...sweeps.map(({ seconds }) => seconds)) <= 240, 'none is due later than an interval from now')
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
