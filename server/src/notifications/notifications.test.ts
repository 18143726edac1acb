import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { type Caller, sliceServer } from '../../test/support/slice-server.ts'
import type { EventType } from '../events/catalogue.ts'
import type { DeliveredEvent } from '../events/deliver.ts'
import { systemActor } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { listNotifications } from './list-notifications.ts'
import { markAllNotificationsRead } from './mark-all-notifications-read.ts'
import { markNotificationRead } from './mark-notification-read.ts'
import { notifiedEvents } from './notification-rules.ts'
import type { WhoMayDecideEach } from './notifications-of-requests.flow.ts'
import { notifyPeople } from './notify-people.subscriber.ts'

const { database, asSuperuser } = await testDatabase()
const call = await sliceServer(database, { listNotifications, markAllNotificationsRead, markNotificationRead })

type Item = { id: string; event_type: string; title: string; body: string; read_at?: string; [field: string]: unknown }

const everybody: WhoMayDecideEach = async function* (_tx, asked) {
  for (const { user_id } of [kim, lou]) yield asked.map(() => [user_id])
}

let tenant_id: string
/** In this order: the requester, two who may approve, and one who may not. */
let dana: Caller
let kim: Caller
let lou: Caller
let max: Caller
let request_id: string

beforeEach(async () => {
  tenant_id = newId()
  await asSuperuser('insert into tenant (id, name) values ($1, $2)', [tenant_id, 'Acme'])
  await asSuperuser(
    `insert into role (tenant_id, id, name, system, scopes) values ($1, 'user', 'User', true, '{requests:create}'),
      ($1, 'approver', 'Approver', true, '{requests:create,requests:approve}'), ($1, 'lead', 'L', false, $2)`,
    [tenant_id, ['requests:approve']],
  )
  dana = await person('Dana', 'approver')
  kim = await person('Kim', 'approver', 'lead')
  lou = await person('Lou', 'lead')
  max = await person('Max', 'user')
  request_id = await ask('require')
})

async function person(name: string, ...roles: string[]): Promise<Caller> {
  const user_id = newId()
  await asSuperuser(
    `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider) select $1, $2, $3, $3, $4, 'local'`,
    [tenant_id, user_id, `${name.toLowerCase()}@example.org`, name],
  )
  await asSuperuser(`insert into user_role (tenant_id, user_id, role_id) select $1, $2, unnest($3::text[])`, [
    tenant_id,
    user_id,
    roles,
  ])
  return { tenant_id, user_id }
}

async function ask(approval_mode: string): Promise<string> {
  const id = newId()
  await asSuperuser(
    `insert into access_request (tenant_id, id, requester_id, resource_type, resource_id, action, status, approval_mode,
      break_glass, duration_seconds, metadata, places, audit_session, asked_via, source_ip, next_look_at)
    values ($1, $2, $3, 'cloud_account', '123456789012', 'ReadOnlyAccess', 'pending', $4, $4 = 'break_glass', 3600,
      '{}', '[]', false, 'token', '127.0.0.1', clock_timestamp())`,
    [tenant_id, id, dana.user_id, approval_mode],
  )
  return id
}

async function happened(type: EventType, subject_id: string, actor_id: string | null = null): Promise<DeliveredEvent> {
  const event = { id: newId(), type, actor_id, subject_type: type.replace(/\..*/, ''), subject_id, data: {} }
  const [row] = await asSuperuser<{ at: string }>(
    `insert into event (tenant_id, id, type, actor_kind, actor_id, subject_type, subject_id, request_id)
    values ($1, $2, $3, 'system', $4, $5, $6, 'test') returning at`,
    [tenant_id, event.id, type, actor_id, event.subject_type, subject_id],
  )
  return { ...event, actor_kind: 'system', at: row?.at ?? '' }
}

const handle = (event: DeliveredEvent, whoMayDecideEach = everybody) =>
  notifyPeople({ whoMayDecideEach, mails: false }).handle(
    { tx: database.tenant(tenant_id), actor: systemActor, request_id: `event:${event.id}` },
    [event],
  )

async function notificationsOf(someone: Caller, query = ''): Promise<Item[]> {
  const { status, body } = await call(someone, 'GET', `/v1/users/me/notifications${query}`)
  assert.equal(status, 200)
  return body.data as Item[]
}

/** The number of notifications of Dana, Kim, Lou and Max. */
const counts = async () =>
  Promise.all([dana, kim, lou, max].map(async (someone) => (await notificationsOf(someone)).length))

suite('a notification', () => {
  test('of a new request goes to each approver once, never to the requester, and says what is requested', async () => {
    await asSuperuser(
      `insert into cloud_account (tenant_id, id, name, account_id, metadata, rank) select $1, 'a', 'Top', $2, '{}', 1`,
      [tenant_id, '123456789012'],
    )
    await handle(await happened('request.created', request_id, dana.user_id))
    assert.deepEqual(await counts(), [0, 1, 1, 0])
    const [item] = await notificationsOf(kim)
    assert.deepEqual(Object.keys(item ?? {}).sort(), [
      ...['body', 'created_at', 'event_type', 'id', 'resource_id', 'resource_type', 'title'],
    ])
    assert.equal(item?.event_type, 'request.created')
    assert.equal(item?.resource_type, 'access_request')
    assert.equal(item?.resource_id, request_id)
    const requests = 'Dana requests ReadOnlyAccess on account Top (123456789012)'
    assert.equal(item?.title, requests)
    assert.ok(item?.body.startsWith(`${requests} for 1 h. The request waits`))
  })

  test('of the same event is not repeated', async () => {
    const event = await happened('request.created', request_id)
    await Promise.all([handle(event), handle(event)])
    await handle(event)
    assert.deepEqual(await counts(), [0, 1, 1, 0])
  })

  test('of a new request goes only to those who may decide it at the time of the event', async () => {
    const event = await happened('request.created', request_id)
    const lookups: unknown[] = []
    await handle(event, async function* (tx, asked) {
      lookups.push(...asked.map(({ request_id, at }) => [tx.tenant_id, request_id, at.toISOString()]))
      yield [[lou.user_id]]
    })
    assert.deepEqual(lookups, [[tenant_id, request_id, new Date(event.at).toISOString()]])
    assert.deepEqual(await counts(), [0, 0, 1, 0])
  })

  test('of a request that a rule approves goes to no approver', async () => {
    await handle(await happened('request.created', await ask('auto')))
    assert.deepEqual(await counts(), [0, 0, 0, 0])
  })

  test('of a break-glass request goes to every approver, whatever policy says', async () => {
    const noApprovers: WhoMayDecideEach = async function* () {}
    await handle(await happened('request.break_glass', await ask('break_glass'), dana.user_id), noApprovers)
    assert.deepEqual(await counts(), [0, 1, 1, 0])
  })

  for (const type of ['request.approved', 'request.denied', 'request.expired'] as const) {
    test(`of ${type} goes only to the requester`, async () => {
      await handle(await happened(type, request_id, kim.user_id))
      assert.deepEqual(await counts(), [1, 0, 0, 0])
    })
  }

  test('of a cancellation goes to the requester if another user cancelled', async () => {
    await handle(await happened('request.cancelled', request_id, dana.user_id))
    assert.deepEqual(await counts(), [0, 0, 0, 0])
    await handle(await happened('request.cancelled', request_id, kim.user_id))
    const [notification] = await notificationsOf(dana)
    assert.equal(notification?.body, 'Kim cancelled the request of Dana for ReadOnlyAccess on account 123456789012.')
  })

  for (const type of [
    'grant.activated',
    'grant.expiring',
    'grant.expired',
    'grant.revoked',
    'grant.failed',
    'grant.drifted',
    'grant.objects_left',
  ] as const) {
    test(`of ${type} goes only to the holder`, async () => {
      const id = newId()
      await asSuperuser(
        `insert into access_grant (tenant_id, id, request_id, user_id, name, resource_type, resource_id, action,
          duration_seconds, status, provisioning_status, activate_by)
        values ($1, $2, $3, $4, 'ReadOnlyAccess on cloud_account 123456789012', 'cloud_account', '123456789012',
          'ReadOnlyAccess', 3600, 'pending', 'not_attempted', clock_timestamp())`,
        [tenant_id, id, request_id, dana.user_id],
      )
      await handle(await happened(type, id))
      assert.deepEqual(await counts(), [1, 0, 0, 0])
      const [notification] = await notificationsOf(dana)
      assert.equal(notification?.resource_type, 'access_grant')
      assert.equal(notification?.resource_id, id)
    })
  }

  test('of a channel whose receiver is gone goes to the users who may change channels', async () => {
    const id = newId()
    const config = '{"to_addresses":["a@example.com"]}'
    await asSuperuser(
      `insert into notification_channel (tenant_id, id, name, channel_type, config) select $1, $2, 'Ops', 'email', $3`,
      [tenant_id, id, config],
    )
    await asSuperuser(
      `insert into role (tenant_id, id, name, scopes) values ($1, 'keeper', 'Keeper', '{notification_channels:write}')`,
      [tenant_id],
    )
    const keeper = await person('Pat', 'keeper')
    const event = await happened('notification_channel.disabled', id)
    await handle(event)
    await handle(event)
    assert.deepEqual(await counts(), [0, 0, 0, 0])
    const notifications = await notificationsOf(keeper)
    assert.deepEqual(
      notifications.map(({ resource_type, resource_id, title }) => [resource_type, resource_id, title]),
      [['notification_channel', id, 'The channel Ops was switched off: its receiver is gone']],
    )
  })

  test('of a record that no longer exists goes to no user', async () => {
    for (const type of notifiedEvents) await handle(await happened(type, newId()))
    assert.deepEqual(await counts(), [0, 0, 0, 0])
  })
})

suite('the notifications of a user', () => {
  const notifyDana = async (times: number) => {
    for (let time = 0; time < times; time += 1) await handle(await happened('request.denied', request_id))
  }

  test('are listed newest first, page by page', async () => {
    await notifyDana(3)
    const all = (await notificationsOf(dana)).map(({ id }) => id)
    assert.deepEqual(all, all.toSorted().reverse())
    const { body } = await call(dana, 'GET', '/v1/users/me/notifications?limit=2')
    assert.equal(body.has_more, true)
    const rest = await notificationsOf(dana, `?limit=2&cursor=${body.next_cursor}`)
    assert.deepEqual(
      [...(body.data as Item[]), ...rest].map(({ id }) => id),
      all,
    )
  })

  test('R11 keep the time of the first reading when they are read again', async () => {
    await notifyDana(1)
    const [notification] = await notificationsOf(dana)
    const path = `/v1/users/me/notifications/${notification?.id}/read`
    const first = await call(dana, 'POST', path)
    assert.equal(first.status, 200)
    assert.match(String(first.body.read_at), /Z$/)
    assert.deepEqual(first.body, { ...notification, read_at: first.body.read_at })
    const again = await Promise.all([call(dana, 'POST', path), call(dana, 'POST', path)])
    assert.deepEqual(again, [first, first])
  })

  test('can be filtered by whether they were read', async () => {
    await notifyDana(3)
    const [newest] = await notificationsOf(dana)
    await call(dana, 'POST', `/v1/users/me/notifications/${newest?.id}/read`)
    assert.equal((await notificationsOf(dana, '?unread=true')).length, 2)
    assert.deepEqual(
      (await notificationsOf(dana, '?unread=false')).map(({ id }) => id),
      [newest?.id],
    )
    assert.equal((await call(dana, 'GET', '/v1/users/me/notifications?unread=1')).status, 400)
  })

  test('are all marked read by one call, which returns how many were unread', async () => {
    await notifyDana(3)
    await handle(await happened('request.created', request_id))
    const [newest] = await notificationsOf(dana)
    const { body: first } = await call(dana, 'POST', `/v1/users/me/notifications/${newest?.id}/read`)
    assert.deepEqual((await call(dana, 'POST', '/v1/users/me/notifications/read-all')).body, { updated: 2 })
    assert.deepEqual((await call(dana, 'POST', '/v1/users/me/notifications/read-all')).body, { updated: 0 })
    const all = await notificationsOf(dana)
    assert.deepEqual(
      all.filter(({ read_at }) => read_at === undefined),
      [],
    )
    assert.equal(all.find(({ id }) => id === first.id)?.read_at, first.read_at)
    assert.equal((await notificationsOf(kim, '?unread=true')).length, 1)
  })

  test('answer another user and another tenant like a random id (T2)', async () => {
    await notifyDana(1)
    const [notification] = await notificationsOf(dana)
    const foreign = { tenant_id: newId(), user_id: dana.user_id }
    await asSuperuser('insert into tenant (id, name) values ($1, $2)', [foreign.tenant_id, 'Other'])
    const path = (id: unknown) => `/v1/users/me/notifications/${id}/read`
    const answers = await Promise.all([
      call(kim, 'POST', path(notification?.id)),
      call(foreign, 'POST', path(notification?.id)),
      call(dana, 'POST', path(newId())),
    ])
    const expected = { status: 404, body: { code: 'not_found', message: 'notification not found' } }
    assert.deepEqual(answers, [expected, expected, expected])
    assert.equal((await call(dana, 'POST', path('{x}'))).status, 404)
    assert.equal((await notificationsOf(dana))[0]?.read_at, undefined)
  })

  test('belong to a user: an API key is no credential for them', async () => {
    const key = { ...dana, kind: 'api_key', scopes: ['requests:read'] } as const
    assert.equal((await call(key, 'GET', '/v1/users/me/notifications')).status, 401)
    assert.equal((await call(key, 'POST', '/v1/users/me/notifications/read-all')).status, 401)
    assert.equal((await call(key, 'POST', `/v1/users/me/notifications/${newId()}/read`)).status, 401)
  })
})
