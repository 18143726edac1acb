import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeStreams, colleague, hintsIn, insertGroupEvents, receives } from '../../test/support/change-stage.ts'
import { openHouse, type Through } from '../../test/support/house.ts'
import { untilEventsSettle } from '../../test/support/settled.ts'
import { until } from '../../test/support/wait.ts'
import type { ServerEvent } from '../http/operation.ts'
import type { Ctx } from '../kernel/context.ts'
import { streamChanges } from './stream-changes.ts'
import { openStreamHub } from './stream-hub.ts'

/** Counts the reads of the feeds, and those of the rights that a stream rests on. */
const reads = { feed: 0 }
const counting: Through = (database) => ({
  ...database,
  tenant: (tenant_id) => {
    const tx = database.tenant(tenant_id)
    const read: typeof tx.read = (statement) => {
      if (/\bfrom event where\b/.test(statement.text) && statement.text.includes('as owner')) reads.feed += 1
      return tx.read(statement)
    }
    return { ...tx, read }
  },
})

const house = await openHouse({}, counting, true)
const { follow } = await changeStreams(house)
await until('changes of rights arrive', async () => house.app.followsChanges())

test('two hundred streams of a tenant make one read for each check that finds something', async () => {
  const { tenant_id, owner } = await house.tenant('many')
  const admins = [owner]
  for (let made = 1; made < 40; made += 1) {
    const person = await colleague(house, tenant_id, owner, `admin${made}`)
    const roles = { roles: ['admin'] }
    const url = `/v1/users/${person.user_id}/roles`
    assert.equal((await house.call({ method: 'PUT', url, token: owner.token, tenant_id, body: roles })).status, 200)
    admins.push(person)
  }
  await untilEventsSettle(house)
  const streams = await Promise.all(
    admins.flatMap((person) => Array.from({ length: 5 }, () => follow(tenant_id, person))),
  )
  assert.equal(streams.length, 200)
  assert.equal(house.app.listening(), 200)
  assert.equal(house.app.server.underWay, 0)
  for (const name of ['a', 'b', 'c']) {
    const before = reads.feed
    await house.asSuperuser(insertGroupEvents, [tenant_id, name, 20])
    await Promise.all(streams.map((stream) => receives(stream, `group ${name}1`, `group ${name}20`)))
    assert.equal(reads.feed - before, 1)
  }
  const [one, ...others] = streams.map(hintsIn)
  assert.equal(one?.length, 60)
  for (const hints of others) assert.deepEqual(hints, one)
})

test('a reader that takes nothing for long gets one hint that it missed some, and nothing was kept for it', async () => {
  const { tenant_id, owner } = await house.tenant('slow')
  await untilEventsSettle(house)
  const hub = openStreamHub(house.database)
  const checked = async () => {
    while ((await hub.check()) < 1_000);
  }
  const scopes = new Set(['groups:read'])
  const actor = { kind: 'user', user_id: owner.user_id, api_key_id: null, scopes } as const
  // All of a context that a stream reads.
  const ctx = { tx: house.database.tenant(tenant_id), actor, streams: hub } as unknown as Ctx
  const input = { header: () => undefined, resumeTokens: { seal: String, find: () => undefined } }
  const stream = streamChanges.run(ctx, input as never) as AsyncGenerator<ServerEvent<object>>
  const next = async () => (await stream.next()).value as ServerEvent<object> | undefined
  assert.deepEqual(Object.keys((await next()) ?? {}), ['id'])
  // What the reader takes next is fixed now; the rest is not kept for it.
  await house.asSuperuser(insertGroupEvents, [tenant_id, 'first', 2])
  await untilEventsSettle(house)
  await checked()
  assert.deepEqual((await next())?.data, { type: 'group', id: 'first1' })
  for (let burst = 0; burst < 4; burst += 1) {
    await house.asSuperuser(insertGroupEvents, [tenant_id, `burst${burst}-`, 200])
    await untilEventsSettle(house)
    await checked()
  }
  assert.deepEqual((await next())?.data, { type: 'group', id: 'first2' })
  const missed = await next()
  assert.deepEqual([missed?.event, typeof missed?.id], ['missed', 'string'])
  await house.asSuperuser(insertGroupEvents, [tenant_id, 'last', 1])
  await untilEventsSettle(house)
  await checked()
  let event = await next()
  while (event === undefined) event = await next()
  assert.deepEqual(event.data, { type: 'group', id: 'last1' })
  await stream.return(undefined)
  assert.equal(hub.listening(), 0)
})
