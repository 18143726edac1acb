import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/wait.ts'
import { sql } from '../db/sql.ts'
import { openDatabase } from '../db/transaction.ts'
import { newId } from '../kernel/id.ts'
import type { WorkItem } from './claim.ts'
import type { Bounds } from './in-flight.ts'
import { type DueWork, startDueWork } from './work-list.ts'

/** Many due rows of several tenants: their order, and that no tenant holds up another. */
const db = await testDatabase()
const loops: { stop(): Promise<void> }[] = []
db.atEnd(() => Promise.all(loops.map((loop) => loop.stop())))

/** A tenant with so many entitlements that are due; `gives`: a pending grant waits for them. Returns their ids. */
async function dueEntitlements(count: number, gives: boolean, secondsAgo = 1): Promise<string[]> {
  const tenant_id = newId()
  await db.asSuperuser(`insert into tenant (id, name) values ($1, 'crowd')`, [tenant_id])
  const rows = await db.asSuperuser<{ id: string }>(
    `insert into entitlement (tenant_id, id, provisioner, target_key, target, held_before, next_look_at, gives)
      select $1, gen_random_uuid(), 'none', n::text, '{}', false, clock_timestamp() - make_interval(secs => $3), $4
      from generate_series(1, $2::integer) n returning id`,
    [tenant_id, count, secondsAgo, gives],
  )
  return rows.map((row) => row.id)
}

/** Works on entitlements of both parts and ends them; `begun` and `done` list them in their order. */
function startTaking(
  bounds: Bounds,
  work: (item: WorkItem) => Promise<void> = () => Promise.resolve(),
  others = db.database,
) {
  const begun: string[] = []
  const done = new Set<string>()
  const run: DueWork['run'] = async (ctx, item) => {
    begun.push(item.id)
    await work(item)
    await ctx.tx.write([
      sql`update entitlement set next_look_at = null, lease_until = null
        where tenant_id = ${item.tenant_id} and id = ${item.id} and generation = ${item.generation}::bigint`,
    ])
    done.add(item.id)
  }
  const works = (['gives', 'takes'] as const).map((part) => ({ table: 'entitlement', part, bounds, run }) as const)
  const fault = (error: unknown) => assert.fail(String(error))
  const loop = startDueWork({ takes: db.database, others }, works, 4, fault, (_table, _item, error) => fault(error))
  loops.push(loop)
  return { begun, done, loop }
}

const allIn = (done: Set<string>, ids: readonly string[]) =>
  until(`${ids.length} are done`, async () => ids.every((id) => done.has(id)))

test('revocations run before grants that have waited longer', async () => {
  const gives = await dueEntitlements(40, true, 60)
  const takes = [...(await dueEntitlements(150, false)), ...(await dueEntitlements(150, false))]
  const taking = startTaking({ width: 512, perTenant: 512 })
  await allIn(taking.done, [...gives, ...takes])
  assert.deepEqual(new Set(taking.begun.slice(0, takes.length)), new Set(takes))
  await taking.loop.stop()
})

test('a grant runs before a long list of revocations is done', async () => {
  const gives = await dueEntitlements(1, true)
  const takes = await dueEntitlements(200, false)
  const taking = startTaking({ width: 8, perTenant: 4 })
  await allIn(taking.done, [...gives, ...takes])
  assert.ok(taking.begun.indexOf(gives[0] ?? '') < takes.length)
  await taking.loop.stop()
})

test('tenants whose work hangs do not hold up the rows of others', async () => {
  const hung = [...(await dueEntitlements(20, false, 60)), ...(await dueEntitlements(20, false, 60))]
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const isHung = new Set(hung)
  const taking = startTaking({ width: 8, perTenant: 4 }, ({ id }) => (isHung.has(id) ? released : Promise.resolve()))
  await until('they use the whole width', async () => taking.begun.length === 8)
  const quick = await dueEntitlements(50, false)
  taking.loop.wake()
  await allIn(taking.done, quick)
  assert.equal(taking.begun.filter((id) => isHung.has(id)).length, 8, 'no more of their rows has begun')
  assert.ok(taking.loop.isBehind(), 'the loop reports that it is behind')
  release()
  await allIn(taking.done, hung)
  await until('it is no longer behind', async () => !taking.loop.isBehind())
  assert.equal(taking.begun.length, hung.length + quick.length, 'each row began once')
  await taking.loop.stop()
})

test('revocations go on while other work gets no connection', async () => {
  const others = openDatabase(db.service, { writes: 1, long: 1 })
  db.atEnd(() => others.close())
  await db.asSuperuser('select pg_advisory_lock(79)')
  const patient = sql`select set_config('lock_timeout', '0', true), set_config('statement_timeout', '0', true)`
  const holding = others.service.write([patient, sql`select pg_advisory_xact_lock(79)`])
  await until('the one connection is held', async () => others.load().busy === 1)
  const [give = ''] = await dueEntitlements(1, true, 60)
  const takes = await dueEntitlements(40, false)
  const taking = startTaking({ width: 8, perTenant: 4 }, undefined, others)
  await allIn(taking.done, takes)
  assert.ok(!taking.begun.includes(give), 'the grant waits for the connection')
  await db.asSuperuser('select pg_advisory_unlock(79)')
  await holding
  await allIn(taking.done, [give])
  await taking.loop.stop()
})

test('a row that is still in flight long after the stop is released', async () => {
  const [id = ''] = await dueEntitlements(1, false)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const taking = startTaking({ width: 8, perTenant: 4 }, () => released)
  await until('it is in flight', async () => taking.begun.includes(id))
  await taking.loop.stop()
  const [row] = await db.asSuperuser(
    'select lease_until, next_look_at is null as rests from entitlement where id = $1',
    [id],
  )
  assert.deepEqual(row, { lease_until: null, rests: false })
  const next = startTaking({ width: 8, perTenant: 4 })
  await allIn(next.done, [id])
  await next.loop.stop()
  release()
})

test('a lease is extended for as long as the work takes', async () => {
  const [id = ''] = await dueEntitlements(1, false)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const taking = startTaking({ width: 8, perTenant: 4 }, () => released)
  await until('it is in flight', async () => taking.begun.includes(id))
  const lease = async () => {
    const [row] = await db.asSuperuser<{ until: string; generation: string }>(
      'select lease_until::text as until, generation::text from entitlement where id = $1',
      [id],
    )
    return row
  }
  const first = await lease()
  await until('it is extended', async () => (await lease())?.until !== first?.until)
  assert.equal((await lease())?.generation, first?.generation)
  release()
  await allIn(taking.done, [id])
  await taking.loop.stop()
})
