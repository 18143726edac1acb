import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { connectAlone } from '../db/client/connect.ts'
import type { ServerEvent } from '../http/operation.ts'
import type { Ctx, StreamSignal } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { streamNotifications } from '../notifications/stream-notifications.ts'
import { streamChanges } from './stream-changes.ts'

const db = await testDatabase()
const tenant_id = newId()
await db.asSuperuser('insert into tenant (id, name) values ($1, $2)', [tenant_id, 'a tenant'])

/** The first notification of a new user, and what a signal that tells of it says. */
async function notify(user_id: string): Promise<{ id: string; notified_to: string }> {
  await db.asSuperuser(
    `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
      values ($1, $2::uuid, $2::text, $2::text, 'Kim', 'local')`,
    [tenant_id, user_id],
  )
  const [notified] = await db.asSuperuser<{ id: string; notified_to: string }>(
    `with happened as (
        insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
        values ($1, gen_random_uuid(), 'request.created', 'system', 'request', 'x', 'test') returning id)
      insert into notification (tenant_id, id, user_id, event_id, event_type, title, body)
      select $1, gen_random_uuid(), $2, id, 'request.created', 'a title', 'a body' from happened
      returning id, (xid::text::bigint + 1)::text as notified_to`,
    [tenant_id, user_id],
  )
  assert.ok(notified)
  return notified
}

/** The notifications that a stream of the user sends while these signals come. */
async function sent(
  operation: typeof streamNotifications | typeof streamChanges,
  user_id: string,
  signals: StreamSignal[],
) {
  const subscription = { next: async () => signals.shift() ?? 'over', close: () => undefined }
  const feed = { end: () => 0, lastMark: () => '', find: async () => undefined, after: () => [] }
  const actor = { kind: 'user', user_id, api_key_id: null, scopes: new Set() } as const
  const streams = { subscribe: () => subscription, follow: async () => ({ ...subscription, feed }) }
  // A stream uses no more of its context.
  const ctx = { tx: db.database.tenant(tenant_id), actor, streams } as unknown as Ctx
  const input = { header: () => undefined, resumeTokens: { seal: () => 'sealed', find: () => undefined } } as never
  const ids: unknown[] = []
  for await (const event of operation.run(ctx, input) as AsyncGenerator<ServerEvent<object> | undefined>) {
    if (event?.event === 'notification' && event.data !== undefined && 'id' in event.data) ids.push(event.data.id)
  }
  return ids
}

for (const operation of [streamNotifications, streamChanges]) {
  test(`${operation.path} sends what it is told of, though it takes a transaction for one of this database`, async () => {
    const open = await connectAlone(db.service)
    await open.query('begin')
    await open.query('select pg_current_xact_id()')
    const user_id = newId()
    const { id, notified_to } = await notify(user_id)
    assert.deepEqual(await sent(operation, user_id, []), [], 'its first read has no signal')
    assert.deepEqual(await sent(operation, user_id, [{ notified_to: '3' }, { notified_to }]), [id])
    await open.end()
  })
}
