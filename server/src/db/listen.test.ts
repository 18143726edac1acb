import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { openDatabaseProxy } from '../../test/support/database-proxy.ts'
import { until } from '../../test/support/wait.ts'
import { listen } from './listen.ts'
import { sql } from './sql.ts'
import type { UnrestrictedTx } from './transaction.ts'

const db = await testDatabase()
const channel = 'test_notices'
const tell = (payload: string) => db.database.service.write([sql`select pg_notify(${channel}, ${payload})`])

/** A listening connection, and its notices and changes of state in order; it ends when the file's tests are done. */
function startListening(target = db.service, beats: UnrestrictedTx = db.database.service) {
  const told: string[] = []
  const note = (what: string) => () => void told.push(what)
  const listening = listen({
    target,
    channel,
    beats,
    onNotice: (payload) => void told.push(payload),
    onConnect: note('connected'),
    onFresh: note('fresh'),
    onLoss: note('lost'),
  })
  after(() => listening.stop())
  return {
    ...listening,
    told,
    fresh: () => until('it is fresh', async () => listening.isFresh()),
    unheard: () => until('it is no longer fresh', async () => !listening.isFresh()),
    has: (payload: string) => until(`\`${payload}\` has arrived`, async () => told.includes(payload)),
  }
}

/** Asserts the order, with anything in between: a busy machine can lose a beat. */
function assertInOrder(told: readonly string[], expected: readonly string[]): void {
  let from = 0
  for (const what of expected) {
    const at = told.indexOf(what, from)
    assert.ok(at >= from, `\`${what}\` is missing in ${told.join(', ')}`)
    from = at + 1
  }
}

test('is fresh once a beat has arrived, and receives notices', async () => {
  const line = startListening()
  assert.ok(!line.isFresh())
  await line.fresh()
  await tell('one')
  await line.has('one')
  assertInOrder(line.told, ['connected', 'fresh', 'one'])
})

test('a connection that is open but silent is detected and replaced (F15)', async () => {
  const way = await openDatabaseProxy(db.service)
  const line = startListening(way.target)
  await line.fresh()
  way.hold()
  await line.unheard()
  await tell('missed')
  await line.has('lost')
  way.mend()
  await line.fresh()
  await tell('later')
  await line.has('later')
  assertInOrder(line.told, ['connected', 'fresh', 'lost', 'connected', 'fresh', 'later'])
  assert.ok(!line.told.includes('missed'))
})

test('a cut connection is reported as lost at once, and only once', async () => {
  const way = await openDatabaseProxy(db.service)
  const line = startListening(way.target)
  await line.fresh()
  way.cut()
  await line.has('lost')
  assert.ok(!line.isFresh())
  way.mend()
  await line.fresh()
  assertInOrder(line.told, ['connected', 'fresh', 'lost', 'connected', 'fresh'])
  assert.doesNotMatch(line.told.filter((what) => what !== 'connected').join(' '), /lost lost|fresh fresh/)
})

test('a connection to another database than the one with the beats is open but never fresh', async () => {
  const elsewhere = await testDatabase()
  const line = startListening(db.service, elsewhere.database.service)
  await line.has('lost')
  assertInOrder(line.told, ['connected', 'lost'])
  assert.ok(!line.isFresh() && !line.told.includes('fresh'))
})

test('stops, and leaves no connection', async () => {
  const own = await testDatabase()
  const line = startListening(own.service, own.database.service)
  await line.fresh()
  line.stop()
  assert.ok(!line.isFresh())
  await until('none is left', async () => {
    const text = `select from pg_stat_activity where application_name = 'sallyport-listen'
      and datname = current_database()`
    return (await own.asSuperuser(text)).length === 0
  })
})
