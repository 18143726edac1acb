import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { readingOf, recordingTx } from '../../test/support/rows-read.ts'
import { untilEventsSettle } from '../../test/support/settled.ts'
import { connectAlone } from '../db/client/connect.ts'
import type { Statement } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { feedLength, type Place } from './change-feed.ts'
import { findNews, listSubjects } from './change-store.ts'

const db = await testDatabase()
const [acme, flooded, quiet] = [newId(), newId(), newId()]

const insertEvents = (type: string) => `insert into event
    (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
  select $1::uuid, gen_random_uuid(), '${type}', 'system', split_part('${type}', '.', 1), gen_random_uuid(), 'test'
  from generate_series(1, $2::integer)`

const placeOf = async (tenant_id: string, skip: number): Promise<Place & { tenant_id: string }> => {
  const [place] = await db.asSuperuser<Place>(
    'select xid::text, seq::text from event where tenant_id = $1 order by event.xid, event.seq offset $2 limit 1',
    [tenant_id, skip],
  )
  return { tenant_id, ...(place ?? { xid: '0', seq: '0' }) }
}

before(async () => {
  for (const id of [acme, flooded, quiet]) {
    await db.asSuperuser('insert into tenant (id, name) values ($1, $2)', [id, id])
  }
  for (const [id, count] of [
    [flooded, 30_000],
    [acme, 1_000],
    [flooded, 30_000],
    [quiet, 1],
  ] as const) {
    await db.asSuperuser(insertEvents(id === acme ? 'request.approved' : 'group.updated'), [id, count])
  }
  await untilEventsSettle(db)
})

test('finds the tenants with events after their place, among those it is asked for', async () => {
  const [early, end, alone] = [await placeOf(flooded, 100), await placeOf(acme, 999), await placeOf(quiet, 0)]
  const news = await findNews(db.database.work, { since: undefined, user_ids: [] }, [early, end, alone])
  assert.deepEqual([news.changed, news.notified], [[flooded], []])
  assert.deepEqual((await findNews(db.database.work, { since: '3', user_ids: [newId()] }, [])).changed, [])
})

test('lists a bounded number of events after a place in the order of the commits, and the newest without one', async () => {
  const tx = db.database.tenant(acme)
  const [first, newest] = [await listSubjects(tx, await placeOf(acme, 0)), await listSubjects(tx, undefined)]
  assert.deepEqual([first.length, newest.length], [feedLength, feedLength])
  const seqs = [...first, ...newest].map(({ seq }) => BigInt(seq))
  assert.ok(seqs.every((seq, index) => index === 0 || seq > (seqs[index - 1] ?? 0n)))
  assert.equal(newest.at(-1)?.seq, (await placeOf(acme, 999)).seq)
  // Another tenant's place shows nothing of it.
  assert.deepEqual(
    await listSubjects(db.database.tenant(quiet), await placeOf(flooded, 59_999)),
    await listSubjects(db.database.tenant(quiet), undefined),
  )
})

test('shows nothing that an open transaction can still precede, then all in the order of the commits', async () => {
  const tenant_id = newId()
  await db.asSuperuser('insert into tenant (id, name) values ($1, $2)', [tenant_id, 'late'])
  const tx = db.database.tenant(tenant_id)
  const slow = await connectAlone(db.service)
  try {
    await slow.query('begin')
    await slow.query(`select set_config('app.tenant_id', $1, true)`, [tenant_id])
    await slow.query(insertEvents('group.created'), [tenant_id, 1])
    await db.asSuperuser(insertEvents('group.deleted'), [tenant_id, 1])
    const place = { xid: '0', seq: '0' }
    const find = () => findNews(db.database.work, { since: undefined, user_ids: [] }, [{ tenant_id, ...place }])
    assert.deepEqual(
      [(await find()).changed, await listSubjects(tx, place), await listSubjects(tx, undefined)],
      [[], [], []],
    )
    await slow.query('commit')
    await untilEventsSettle(db)
    assert.deepEqual((await find()).changed, [tenant_id])
    for (const after of [place, undefined]) {
      assert.deepEqual(
        (await listSubjects(tx, after)).map(({ type }) => type),
        ['group.created', 'group.deleted'],
      )
    }
  } finally {
    await slow.end()
  }
})

/** The same on tables whose statistics are missing, and on analyzed ones. */
for (const state of ['fresh', 'analyzed'] as const) {
  suite(`on ${state} tables`, () => {
    before(async () => {
      if (state === 'analyzed') await db.asSuperuser('analyze event')
    })

    test('a read of a feed reads no more than its events', async () => {
      for (const after of [undefined, await placeOf(acme, 10)]) {
        const { tx, statements } = recordingTx(db.database.tenant(acme))
        await listSubjects(tx, after)
        for (const generic of [true, false]) {
          const { rows } = await readingOf(db, acme, statements[0] as Statement, generic)
          assert.ok(rows <= 3 * feedLength, `${rows} rows of ${state} tables, ${generic ? 'generic' : 'custom'} plan`)
        }
      }
    })

    test('a check reads one event for each tenant, of each partition that has one', async () => {
      const [{ partitions } = { partitions: 0 }] = await db.asSuperuser<{ partitions: number }>(
        `select count(*)::int as partitions from pg_inherits where inhparent = 'event'::regclass`,
      )
      const kept: Statement[] = []
      const work: typeof db.database.work = {
        ...db.database.work,
        read: (statement) => {
          kept.push(statement)
          return db.database.work.read(statement)
        },
      }
      const places = [await placeOf(flooded, 10), await placeOf(acme, 10), await placeOf(quiet, 0)]
      await findNews(work, { since: '3', user_ids: [newId()] }, places)
      for (const generic of [true, false]) {
        const { rows } = await readingOf(db, flooded, kept[0] as Statement, generic)
        assert.ok(
          rows <= places.length * partitions,
          `${rows} rows of ${state} tables, ${generic ? 'generic' : 'custom'} plan`,
        )
      }
    })
  })
}
