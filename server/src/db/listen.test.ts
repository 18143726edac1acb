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
const notify = (payload: string) => db.database.service.write([sql`select pg_notify(${channel}, ${payload})`])

/** A listening connection, and its notices and changes of state in order; it ends when the file's tests are done. */
function startListening(target = db.service, beats: UnrestrictedTx = db.database.service) {
  const log: string[] = []
  const note = (what: string) => () => void log.push(what)
  const listening = listen({
    target,
    channel,
    beats,
    onNotice: (payload) => void log.push(payload),
    onConnect: note('connected'),
    onFresh: note('fresh'),
    onLoss: note('lost'),
  })
  after(() => listening.stop())
  return {
    ...listening,
    log,
    fresh: () => until('it is fresh', async () => listening.isFresh()),
    stale: () => until('it is no longer fresh', async () => !listening.isFresh()),
    has: (payload: string) => until(`\`${payload}\` has arrived`, async () => log.includes(payload)),
  }
}

/** Asserts the order, with anything in between: a busy machine can lose a beat. */
function assertInOrder(log: readonly string[], expected: readonly string[]): void {
  let from = 0
  for (const what of expected) {
    const at = log.indexOf(what, from)
    assert.ok(at >= from, `\`${what}\` is missing in ${log.join(', ')}`)
    from = at + 1
  }
}

test('is fresh once a beat has arrived, and receives notices', async () => {
  const listener = startListening()
  assert.ok(!listener.isFresh())
  await listener.fresh()
  await notify('one')
  await listener.has('one')
  assertInOrder(listener.log, ['connected', 'fresh', 'one'])
})

test('a connection that is open but silent is detected and replaced (F15)', async () => {
  const way = await openDatabaseProxy(db.service)
  const listener = startListening(way.target)
  await listener.fresh()
  way.hold()
  await listener.stale()
  await notify('missed')
  await listener.has('lost')
  way.repair()
  await listener.fresh()
  await notify('later')
  await listener.has('later')
  assertInOrder(listener.log, ['connected', 'fresh', 'lost', 'connected', 'fresh', 'later'])
  assert.ok(!listener.log.includes('missed'))
})

test('a cut connection is reported as lost at once, and only once', async () => {
  const way = await openDatabaseProxy(db.service)
  const listener = startListening(way.target)
  await listener.fresh()
  way.cut()
  await listener.has('lost')
  assert.ok(!listener.isFresh())
  way.repair()
  await listener.fresh()
  assertInOrder(listener.log, ['connected', 'fresh', 'lost', 'connected', 'fresh'])
  assert.doesNotMatch(listener.log.filter((what) => what !== 'connected').join(' '), /lost lost|fresh fresh/)
})

test('a connection to another database than the one with the beats is open but never fresh', async () => {
  const elsewhere = await testDatabase()
  const listener = startListening(db.service, elsewhere.database.service)
  await listener.has('lost')
  assertInOrder(listener.log, ['connected', 'lost'])
  assert.ok(!listener.isFresh() && !listener.log.includes('fresh'))
})

test('stops, and leaves no connection', async () => {
  const own = await testDatabase()
  const listener = startListening(own.service, own.database.service)
  await listener.fresh()
  listener.stop()
  assert.ok(!listener.isFresh())
  await until('none is left', async () => {
    const text = `select from pg_stat_activity where application_name = 'sallyport-listen'
      and datname = current_database()`
    return (await own.asSuperuser(text)).length === 0
  })
})
