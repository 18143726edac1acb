import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import type { Database } from '../db/transaction.ts'
import type { Ear } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { openBell } from './bell.ts'

const { database } = await testDatabase()
const [acme, other] = [newId(), newId()]

/** Counts the trips that the bell makes. */
function counted() {
  const trips = { count: 0 }
  const work: Database['work'] = {
    ...database.work,
    read: (statement) => {
      trips.count += 1
      return database.work.read(statement)
    },
  }
  return { bell: openBell({ ...database, work }), trips }
}

/** A look that is not too early. */
async function look(bell: ReturnType<typeof openBell>): Promise<void> {
  while ((await bell.look()) < 1_000);
}

test('asks nothing while nobody listens, and once for however many do', async () => {
  const { bell, trips } = counted()
  await look(bell)
  assert.equal(trips.count, 0)
  const ears = Array.from({ length: 500 }, () => bell.listen(acme, newId()))
  const heard = ears.map((ear) => ear.hear())
  await look(bell)
  await look(bell)
  assert.equal(trips.count, 2)
  // Before the first look anything may have been written.
  assert.deepEqual(new Set(await Promise.all(heard)), new Set(['told']))
  for (const ear of ears) ear.close()
  await look(bell)
  assert.equal(trips.count, 2)
})

test('takes a thousand ears and no more: the next is refused until one goes', async () => {
  const { bell } = counted()
  const ears = Array.from({ length: 1_000 }, () => bell.listen(acme, newId()))
  assert.throws(() => bell.listen(acme, newId()), { code: 'unavailable', status: 503 })
  ears[0]?.close()
  ears[0]?.close()
  assert.equal(bell.listening(), 999)
  bell.listen(acme, newId())
  assert.equal(bell.listening(), 1_000)
})

test('a tenant that has all places gives one up for another tenant, and takes none of those that have fewer (T14)', async () => {
  const { bell } = counted()
  const ears = Array.from({ length: 1_000 }, () => bell.listen(acme, newId()))
  const guest = bell.listen(other, newId())
  assert.equal(await ears[0]?.hear(), 'over')
  assert.equal(bell.listening(), 1_000)
  assert.throws(() => bell.listen(acme, newId()), { code: 'unavailable' })
  bell.listen(other, newId())
  assert.equal(await ears[1]?.hear(), 'over')
  const heard = guest.hear()
  await look(bell)
  assert.equal(await heard, 'told')
})

test('the sixth of one person takes the place of the oldest', async () => {
  const { bell } = counted()
  const user_id = newId()
  const ears: Ear[] = Array.from({ length: 6 }, () => bell.listen(acme, user_id))
  assert.equal(await ears[0]?.hear(), 'replaced')
  assert.equal(bell.listening(), 5)
  ears[0]?.close()
  assert.equal(bell.listening(), 5)
})

test('when it closes, whoever listens hears so, again and again, and nobody comes any more', async () => {
  const { bell } = counted()
  const ear = bell.listen(acme, newId())
  bell.close()
  assert.deepEqual([await ear.hear(), await ear.hear()], ['over', 'over'])
  assert.throws(() => bell.listen(acme, newId()), { code: 'unavailable' })
})

test('what was told while nobody waited is heard by the next who does', async () => {
  const { bell } = counted()
  const ear = bell.listen(acme, newId())
  await look(bell)
  assert.equal(await ear.hear(), 'told')
  const next = ear.hear()
  await look(bell)
  assert.equal(await next, 'quiet')
})

test('whoever comes while it looks hears something: what was written before that look is not looked for again', async () => {
  let late: Ear | undefined
  let comes = false
  const work: Database['work'] = {
    ...database.work,
    read: (statement) => {
      if (comes) late ??= bell.listen(acme, newId())
      return database.work.read(statement)
    },
  }
  const bell = openBell({ ...database, work })
  bell.listen(acme, newId())
  await look(bell)
  comes = true
  await look(bell)
  const heard = late?.hear()
  await look(bell)
  assert.equal(await heard, 'told')
})
