import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, beforeEach, suite, test } from 'node:test'
import { setImmediate as pause } from 'node:timers/promises'
import { openStream, type Stream } from '../../test/support/event-stream.ts'
import { openHouse, type Person, type TestTenant } from '../../test/support/house.ts'
import { until } from '../../test/support/wait.ts'
import { connectAlone } from '../db/client/connect.ts'
import { newId } from '../kernel/id.ts'

const house = await openHouse()
const address = await house.app.server.listen({ host: '127.0.0.1', port: 0 })
const path = '/v1/users/me/notifications/stream'
const nil = '00000000-0000-0000-0000-000000000000'

const streams = new Set<Stream>()
afterEach(() => {
  for (const stream of streams) stream.close()
  streams.clear()
})
const noStreamIsOpen = () => until('no stream is open', async () => house.app.listening() === 0)

let tenant: TestTenant
/** The user who listens in a test. */
let kim: Person
beforeEach(async () => {
  tenant = await house.tenant('stream')
  kim = tenant.people.user
})

async function listen(person: Pick<Person, 'token'>, last?: string, tenant_id = tenant.tenant_id): Promise<Stream> {
  const headers = { authorization: `Bearer ${person.token}`, 'x-tenant-id': tenant_id }
  const stream = await openStream(address + path, { ...headers, ...(last !== undefined && { 'last-event-id': last }) })
  streams.add(stream)
  assert.equal(stream.status, 200, stream.text())
  await until('it has begun', async () => stream.events().length > 0)
  return stream
}

const notify = (person: Person, tenant_id = tenant.tenant_id) => house.notification(tenant_id, person.user_id)

/** Notifies before a test opens its stream, and waits until no older transaction of another file is open. */
async function notifyBefore(person: Person, count = 1): Promise<string[]> {
  const ids: string[] = []
  for (let notified = 0; notified < count; notified += 1) ids.push(await notify(person))
  await until('no older transaction is open', async () => {
    const settled = 'select from notification where id = $1 and xid < pg_snapshot_xmin(pg_current_snapshot())'
    return (await house.asSuperuser(settled, [ids.at(-1)])).length > 0
  })
  return ids
}

/** Waits until these ids have arrived, and fails if others arrived with them. */
async function receives(stream: Stream, ids: readonly string[]): Promise<void> {
  await until('the ids have arrived', async () => stream.ids().length >= ids.length || stream.ended() !== undefined)
  assert.deepEqual(stream.ids(), ids)
}

suite('a stream of a user’s notifications', { concurrency: false }, () => {
  test('sends each as the list shows it, under its id, and nothing older than the stream', async () => {
    const [before] = await notifyBefore(kim)
    const stream = await listen(kim)
    const id = await notify(kim)
    await receives(stream, [id])
    const list = await house.call({
      ...{ method: 'GET', url: '/v1/users/me/notifications', token: kim.token, tenant_id: tenant.tenant_id },
    })
    const [newest] = list.body.data as Record<string, unknown>[]
    const [opening, notification] = stream.events()
    assert.match(String(opening?.retry), /^[1-5]\d{3}$/)
    assert.equal(opening?.id, before)
    assert.deepEqual(notification, { id, event: 'notification', data: newest })
    const { headers } = stream
    assert.match(String(headers['content-type']), /^text\/event-stream/)
    assert.equal(headers['cache-control'], 'no-store, no-transform')
    assert.equal(headers['x-accel-buffering'], 'no')
  })

  test('sends nothing of another user or another tenant (T14)', async () => {
    const other = await house.tenant('other')
    const [mine, colleague, stranger] = [
      await listen(kim),
      await listen(tenant.people.approver),
      await listen(other.people.user, undefined, other.tenant_id),
    ]
    const id = await notify(kim)
    const theirs = await notify(tenant.people.approver)
    const foreign = await notify(other.people.user, other.tenant_id)
    await Promise.all([receives(mine, [id]), receives(colleague, [theirs]), receives(stranger, [foreign])])
    const begin = { authorization: `Bearer ${kim.token}`, 'x-tenant-id': other.tenant_id }
    assert.equal((await openStream(address + path, begin)).status, 403)
  })

  test('resumes after the last id without gap or duplicate, even if none had arrived', async () => {
    const [first = '', ...rest] = await notifyBefore(kim, 3)
    await receives(await listen(kim, first), rest)
    const opened = await listen(tenant.people.approver)
    assert.equal(opened.events()[0]?.id, nil)
    opened.close()
    const missed = await notify(tenant.people.approver)
    await receives(await listen(tenant.people.approver, nil), [missed])
  })

  test('sends the newest hundred of those that were missed, and says if there are more', async () => {
    const ids = await notifyBefore(kim, 103)
    const exact = await listen(kim, ids[2])
    await receives(exact, ids.slice(3))
    assert.ok(exact.events().every(({ event }) => event !== 'missed'))
    const longAway = await listen(kim, ids[1])
    await receives(longAway, ids.slice(3))
    assert.equal(longAway.events()[1]?.event, 'missed')
  })

  test('treats the id of another user as unknown, and says that something may have been missed', async () => {
    const [theirs] = await notifyBefore(tenant.people.approver)
    for (const last of [theirs, newId()]) {
      await notifyBefore(kim)
      const stream = await listen(kim, last)
      const id = await notify(kim)
      await receives(stream, [id])
      assert.deepEqual(
        stream.events().map(({ event }) => event),
        [undefined, 'missed', 'notification'],
      )
    }
    const odd = await house.call({
      ...{ method: 'GET', url: path, token: kim.token, tenant_id: tenant.tenant_id },
      headers: { 'last-event-id': '1 or 1=1' },
    })
    assert.deepEqual([odd.status, odd.body.code], [400, 'invalid_input'])
  })

  test('waits for an open transaction, and sends what it commits late before newer ones', async () => {
    const stream = await listen(kim)
    const slow = await connectAlone(house.service)
    house.atEnd(() => slow.end())
    const late = newId()
    await slow.query('begin')
    await slow.query(`select set_config('app.tenant_id', $1, true)`, [tenant.tenant_id])
    const [event] = await house.asSuperuser<{ id: string }>(
      `insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
        values ($1, $2, 'request.created', 'system', 'request', 'x', 'test') returning id`,
      [tenant.tenant_id, newId()],
    )
    await slow.query(
      `insert into notification (tenant_id, id, user_id, event_id, event_type, title, body)
        values ($1, $2, $3, $4, 'request.created', 'late', 'late')`,
      [tenant.tenant_id, late, kim.user_id, event?.id],
    )
    const after = [await notify(kim), await notify(kim)]
    assert.ok(late < (after[0] ?? ''))
    // Meanwhile the checks continue, and a second stream gets nothing either.
    const reopened = await listen(kim, stream.events()[0]?.id)
    assert.deepEqual([stream.ids(), reopened.ids()], [[], []])
    await slow.query('commit')
    await Promise.all([receives(stream, [late, ...after]), receives(reopened, [late, ...after])])
    await receives(await listen(kim, late), after)
  })
})

suite('a stream ends', { concurrency: false }, () => {
  const ends = (stream: Stream) => until('it has ended', async () => stream.ended())

  test('when its user is deactivated (A6)', async () => {
    const stream = await listen(kim)
    await house.asSuperuser('update tenant_user set active = false where id = $1', [kim.user_id])
    await notify(kim)
    assert.equal(await ends(stream), 'whole')
    assert.deepEqual(stream.ids(), [])
  })

  test('when its token expires (A4)', async () => {
    const seconds = 3_600 + 60 - 2
    const token = await house.tokenOf(tenant.tenant_id, kim.user_id, new Date(Date.now() - seconds * 1_000))
    assert.equal(await ends(await listen({ token })), 'whole')
  })

  test('with `replaced` when it is the oldest of six of one user', async () => {
    const all: Stream[] = []
    for (let opened = 0; opened < 6; opened += 1) all.push(await listen(kim))
    const [oldest, ...others] = all
    assert.ok(oldest)
    assert.equal(await ends(oldest), 'whole')
    assert.equal(oldest.events().at(-1)?.event, 'replaced')
    const id = await notify(kim)
    for (const stream of others) await receives(stream, [id])
  })

  test('when its client reads nothing: the connection is cut, and nothing is kept for it (I13)', async () => {
    const { server } = house.app.server
    const { timeout } = server
    await noStreamIsOpen()
    server.timeout = 3_000
    const deaf = await listen(kim)
    server.timeout = timeout
    const well = await listen(kim)
    deaf.deafen()
    // More than the buffers of a connection hold.
    await house.asSuperuser(
      `with told as (
        insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
        select $1, gen_random_uuid(), 'request.created', 'system', 'request', 'x', 'test' from generate_series(1, 100)
        returning id)
      insert into notification (tenant_id, id, user_id, event_id, event_type, title, body)
      select $1, gen_random_uuid(), $2, id, 'request.created', 'long', repeat('x', 200000) from told`,
      [tenant.tenant_id, kim.user_id],
    )
    await until(
      'the stalled stream is closed',
      async () => {
        await notify(kim)
        return house.app.listening() === 1
      },
      60_000,
    )
    assert.equal(well.ended(), undefined)
  })
})

test('many streams hold no database connection, and do not count as requests in flight', async () => {
  const people = [tenant.owner, ...Object.values(tenant.people)]
  const all = await Promise.all(people.flatMap((person) => Array.from({ length: 5 }, () => listen(person))))
  assert.equal(all.length, 25)
  assert.equal(house.app.server.underWay, 0)
  await until('no connection is busy', async () => house.database.load().busy === 0)
  const list = { method: 'GET', url: '/v1/users/me/preferences', token: kim.token, tenant_id: tenant.tenant_id }
  const replies = await Promise.all(Array.from({ length: 20 }, () => house.call(list)))
  assert.ok(replies.every(({ status }) => status === 200))
  for (const stream of all) stream.close()
  await noStreamIsOpen()
  assert.equal(house.app.server.underWay, 0)
})

test('a client that disconnects while its stream begins leaves nothing behind', async () => {
  const { port } = new URL(address)
  const head = `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${kim.token}\r\nx-tenant-id: ${tenant.tenant_id}\r\n\r\n`
  for (let pauses = 0; pauses < 60; pauses += 1) {
    const caller = connect(Number(port), '127.0.0.1')
    caller.on('error', () => undefined)
    await once(caller, 'connect')
    caller.write(head)
    for (let waited = 0; waited < pauses; waited += 1) await pause()
    caller.destroy()
  }
  await noStreamIsOpen()
  await until('no request is in flight', async () => house.app.server.underWay === 0)
})

test('HEAD returns the content type and opens no stream', async () => {
  await noStreamIsOpen()
  const headers = { authorization: `Bearer ${kim.token}`, 'x-tenant-id': tenant.tenant_id }
  const reply = await fetch(address + path, { method: 'HEAD', headers })
  assert.equal(reply.status, 200)
  assert.match(String(reply.headers.get('content-type')), /^text\/event-stream/)
  assert.equal(house.app.listening(), 0)
})

test('a stop ends all streams at once, and refuses new ones', async () => {
  const own = await openHouse()
  const base = await own.app.server.listen({ host: '127.0.0.1', port: 0 })
  const { tenant_id, people } = await own.tenant('stop')
  const headers = { authorization: `Bearer ${people.user.token}`, 'x-tenant-id': tenant_id }
  const stream = await openStream(base + path, headers)
  await until('it has begun', async () => stream.events().length > 0)
  const stopped = own.app.stop()
  const late = await own.call({ method: 'GET', url: path, token: people.user.token, tenant_id })
  assert.deepEqual([late.status, late.body.code], [503, 'unavailable'])
  await stopped
  assert.equal(await until('it has ended', async () => stream.ended()), 'whole')
})
