import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Page } from '../support/client.ts'
import { startEventReceiver } from '../support/event-receiver.ts'
import { startGuideReceiver } from '../support/guide-program.ts'
import { startOnTestServer } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

/** The real service notifies the guide's receiver, a separate process, which is killed and restarted. */
type Message = {
  webhook_id: string
  type: string
  timestamp: string
  data: AuditEvent & { tenant_id: string; mode: string }
}
type AuditEvent = { id: string; subject: { id: string }; data: object }
type Channel = { id: string; secret: string; enabled: boolean }

const sallyport = await startOnTestServer({ EGRESS_ALLOW: '127.0.0.1' })
const owner = sallyport.client({ api_key: sallyport.bootstrap.api_key })
const ada = await sallyport.join('Ada', ['user'])

const policy = await owner<{ id: string }>('POST', '/v1/policies', { name: 'everybody may ask' })
await owner('POST', `/v1/policies/${policy.body.id}/rules`, { effect: 'permit' })

async function create(url: string, event_filters: string[]): Promise<Channel> {
  const body = { name: 'a receiver', url, event_filters }
  const made = await owner<Channel>('POST', '/v1/notification-channels/webhook', body)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return made.body
}

async function ask(): Promise<string> {
  const resource = { type: 'cloud_account', id: '123456789012' }
  const body = { resource, action: 'ReadOnly', reason: 'a look' }
  const reply = await ada.call<{ id: string }>('POST', '/v1/requests', body)
  assert.equal(reply.status, 201, JSON.stringify(reply.body))
  return reply.body.id
}

const entry = async (type: string, id: string) => {
  const { body } = await owner<Page<Record<string, unknown>>>('GET', `/v1/audit-events?type=${type}&subject=${id}`)
  return body.data[0]
}

test('a receiver gets each event of a request once, also those that happened while it was down (S7)', async () => {
  // Its address is unknown before it runs, and its secret before its channel exists.
  const waiting = await startGuideReceiver('webhook-channels.md', 'whsec_')
  const channel = await create(waiting.url, ['request.created'])
  await waiting.close()
  const receiver = await startGuideReceiver('webhook-channels.md', channel.secret)
  after(() => receiver.close())
  await owner('PATCH', `/v1/notification-channels/${channel.id}`, { url: receiver.url })
  const file = join(receiver.folder, 'events.ndjson')
  // A line that the receiver has only begun has no end yet.
  const taken = (): Message[] =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line))
      : []
  const messageOf = (request_id: string) =>
    until('the receiver got the event', async () => taken().find(({ data }) => data.subject.id === request_id))

  const first = await ask()
  const { webhook_id: _, type, timestamp, data } = await messageOf(first)
  const { tenant_id, mode, ...rest } = data
  assert.deepEqual({ type, at: timestamp, ...rest }, await entry('request.created', first))
  assert.deepEqual([tenant_id, mode], [sallyport.bootstrap.tenant_id, 'rehearsal'])

  await receiver.kill()
  const missed = [await ask(), await ask()]
  await until('a delivery was attempted', async () => {
    const [row] = await sallyport.asSuperuser<{ tried: boolean }>(
      'select count(last_error) > 0 as tried from delivery where channel_id = $1',
      [channel.id],
    )
    return row?.tried
  })
  await receiver.start()
  for (const id of missed) await messageOf(id)
  assert.deepEqual(
    taken().map((message) => message.data.subject.id),
    [first, ...missed],
  )
})

test('a receiver that answers 410 has its channel disabled, with a notification', async () => {
  const receiver = await startEventReceiver()
  receiver.answer = (reply) => reply.writeHead(410).end()
  const channel = await create(receiver.url, ['request.created'])
  await ask()
  const event = await until('the channel is disabled', () => entry('notification_channel.disabled', channel.id))
  assert.deepEqual(event.actor, { kind: 'system', id: null, api_key_id: null })
  assert.ok(receiver.proves(channel.secret))
  const { body } = await owner<Channel>('GET', `/v1/notification-channels/${channel.id}`)
  assert.equal(body.enabled, false)
})
