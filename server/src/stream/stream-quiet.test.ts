import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, test } from 'node:test'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { insertGroupEvents } from '../../test/support/change-stage.ts'
import { testDatabase } from '../../test/support/database.ts'
import { untilEventsSettle } from '../../test/support/settled.ts'
import type { ServerEvent } from '../http/operation.ts'
import type { Ctx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { streamChanges } from './stream-changes.ts'
import { openStreamHub } from './stream-hub.ts'

const db = await testDatabase()
let nowMs = 0

beforeEach(() => {
  nowMs = 0
  mock.method(performance, 'now', () => nowMs)
})
afterEach(() => mock.restoreAll())

/** What a user without scopes gets at one beat every ten seconds, 14 times, while `happen` comes before each. */
async function eventsAtBeats(happen: (tenant_id: string) => Promise<unknown>) {
  const tenant_id = newId()
  await db.asSuperuser('insert into tenant (id, name) values ($1, $2)', [tenant_id, tenant_id])
  const hub = openStreamHub(db.database)
  const actor = { kind: 'user', user_id: newId(), api_key_id: null, scopes: new Set() } as const
  const ctx = { tx: db.database.tenant(tenant_id), actor, streams: hub } as unknown as Ctx
  const resumeTokens = { seal: () => 'sealed', find: () => undefined }
  const input = { header: () => undefined, resumeTokens } as never
  const stream = streamChanges.run(ctx, input) as AsyncGenerator<ServerEvent<object> | undefined>
  const events = [(await stream.next()).value]
  for (let beats = 0; beats < 14; beats += 1) {
    nowMs += 10_000
    const taken = { isOver: false }
    const next = stream.next().finally(() => {
      taken.isOver = true
    })
    await happen(tenant_id)
    await hub.check()
    while (!taken.isOver) {
      await hub.beat()
      await yieldToEventLoop()
    }
    events.push((await next).value)
  }
  await stream.return(undefined)
  return events
}

const place = { id: 'sealed' }
const minute = [undefined, undefined, undefined, undefined, undefined, place]

test('a reader gets its place once a minute while nothing happens', async () => {
  const events = await eventsAtBeats(async () => undefined)
  assert.deepEqual(events, [place, ...minute, ...minute, undefined, undefined])
})

test('a reader in a tenant whose events are all of others gets the same at the same time (T14)', async () => {
  const events = await eventsAtBeats(async (tenant_id) => {
    await db.asSuperuser(insertGroupEvents, [tenant_id, 'hidden', 120])
    await untilEventsSettle(db)
  })
  assert.deepEqual(events, [place, ...minute, ...minute, undefined, undefined])
})
