import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { suite, test } from 'node:test'
import { startEventReceiver } from '../../../test/support/event-receiver.ts'
import { freePort } from '../../../test/support/free-port.ts'
import { openHouse } from '../../../test/support/house.ts'
import { readEgressAllow } from '../../egress/allow-list.ts'
import { openEgress } from '../../egress/egress.ts'
import { newId } from '../../kernel/id.ts'
import type { SendOutcome } from '../../kernel/send-outcome.ts'
import { openSealer } from '../../secrets/sealer.ts'
import type { DeliveredEvent, Delivery } from '../carrier.ts'
import type { WebhookChannelWithSecret } from '../webhook-channel.ts'
import { webhookCarrier } from './webhook-carrier.ts'

const house = await openHouse({ EGRESS_ALLOW: '127.0.0.1' })
const { tenant_id, owner } = await house.tenant('Acme')
const tx = house.database.tenant(tenant_id)
const sealer = openSealer(house.rootKeys)
const open = openEgress(readEgressAllow('127.0.0.1'))
const [staying, path] = [new AbortController().signal, '/v1/notification-channels']

async function as(method: string, url: string, body?: unknown, expected = 200) {
  const sent = body === undefined ? {} : { body }
  const reply = await house.call({ method, url, api_key: owner.api_key, tenant_id, ...sent })
  assert.equal(reply.status, expected, reply.text)
  return reply.body
}

async function create(url: string, more: object = {}): Promise<WebhookChannelWithSecret> {
  return (await as('POST', `${path}/webhook`, { name: 'SIEM', url, ...more }, 201)) as WebhookChannelWithSecret
}

/** A delivery of the event of the channel's creation. */
async function deliveryTo({ id }: { id: string }): Promise<Delivery> {
  const [event] = await house.asSuperuser<DeliveredEvent>(
    `select id, type, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, actor_kind, actor_id,
      api_key_id, subject_type, subject_id, data, request_id from event where subject_id = $1 order by seq limit 1`,
    [id],
  )
  assert.ok(event)
  return { id: newId(), event, recipient: '', resends: 0 }
}

/** A receiver, a channel to it, and a delivery for it. */
async function stage(more: object = {}, egress = open, maxMs?: number) {
  const receiver = await startEventReceiver()
  const channel = await create(receiver.url, more)
  const delivery = await deliveryTo(channel)
  const carrier = webhookCarrier({ sealer, egress }, maxMs)
  const carry = (signal = staying) => carrier.carry(tx, channel, delivery, signal)
  return { receiver, channel, delivery, carry, rotate: (body: object) => rotate(channel.id, body) }
}

async function rotate(id: string, body: object): Promise<string> {
  return String((await as('POST', `${path}/${id}/rotate-secret`, body)).secret)
}

suite('a message', () => {
  test('is the entry of the audit log, with a signature that the library of the standard accepts', async () => {
    const { receiver, channel, delivery, carry } = await stage()
    assert.deepEqual(await carry(), { kind: 'delivered', said: 'the receiver answered 204' })
    assert.ok(receiver.proves(channel.secret))
    const { data } = await as('GET', `/v1/audit-events?subject=${channel.id}`)
    const [{ type, at, ...rest }] = data as [Record<string, unknown>]
    const { headers, body } = receiver.last()
    const entry = { ...rest, tenant_id, mode: 'rehearsal' }
    assert.deepEqual(JSON.parse(body), { type, timestamp: delivery.event.at, data: entry })
    assert.equal(new Date(delivery.event.at).toISOString(), new Date(String(at)).toISOString())
    assert.equal(headers['content-type'], 'application/json')
    assert.equal(headers['webhook-id'], delivery.id)
  })

  test('is retried with the same id and body, and with the database’s time of the attempt (F10)', async () => {
    const { receiver, carry } = await stage()
    const now = async () => {
      const [row] = await house.asSuperuser<{ now: number }>(
        'select floor(extract(epoch from clock_timestamp()))::float8 as now',
      )
      return row?.now ?? Number.NaN
    }
    const from = await now()
    for (let times = 0; times < 2; times += 1) await carry()
    const to = await now()
    const [one, other] = receiver.posted
    assert.deepEqual([one?.body, one?.headers['webhook-id']], [other?.body, other?.headers['webhook-id']])
    for (const { headers } of receiver.posted) {
      const at = Number(headers['webhook-timestamp'])
      assert.ok(from <= at && at <= to, `${from} <= ${at} <= ${to}`)
    }
  })

  test('has the present headers of the channel beside its own', async () => {
    const { receiver, channel, carry } = await stage({ headers: { authorization: 'Bearer gateway-one' } })
    await carry()
    assert.equal(receiver.last().headers.authorization, 'Bearer gateway-one')
    await as('PATCH', `${path}/${channel.id}`, { headers: { 'x-key': 'gateway-two' } })
    await carry()
    const { authorization, 'x-key': key } = receiver.last().headers
    assert.deepEqual([authorization, key], [undefined, 'gateway-two'])
    assert.ok(receiver.proves(channel.secret))
  })

  test('carries both signatures for a day after a rotation, then only the new one (S7)', async () => {
    const { receiver, channel, carry, rotate } = await stage()
    const next = await rotate({})
    await carry()
    assert.deepEqual([receiver.proves(channel.secret), receiver.proves(next)], [true, true])
    const [row] = await house.asSuperuser<{ hours: number }>(
      `select round(extract(epoch from previous_until - updated_at) / 3600)::integer as hours
        from notification_channel where id = $1`,
      [channel.id],
    )
    assert.equal(row?.hours, 24)
    await house.asSuperuser('update notification_channel set previous_until = clock_timestamp() where id = $1', [
      channel.id,
    ])
    await carry()
    assert.deepEqual([receiver.proves(channel.secret), receiver.proves(next)], [false, true])
  })

  test('carries no signature of a secret before the previous one, or of one rotated without overlap (S7)', async () => {
    const { receiver, channel, carry, rotate } = await stage()
    const second = await rotate({})
    const third = await rotate({ overlap_seconds: 3_600 })
    await carry()
    assert.deepEqual([channel.secret, second, third].map(receiver.proves), [false, true, true])
    const fourth = await rotate({ overlap_seconds: 0 })
    await carry()
    assert.deepEqual([second, third, fourth].map(receiver.proves), [false, false, true])
  })
})

suite('an answer', () => {
  const why = (text: string) => ({ why: `the receiver answered ${text}` })
  const [all, one] = [
    { kind: 'try_again', holds_up: 'all' },
    { kind: 'try_again', holds_up: 'this' },
  ] as const
  const inTwoHours = new Date(Date.now() + 7_200_000).toUTCString()
  const cases: [string, number, Record<string, string>, string, SendOutcome][] = [
    ['200', 200, {}, 'ok', { kind: 'delivered', said: 'the receiver answered 200' }],
    ['202', 202, {}, '', { kind: 'delivered', said: 'the receiver answered 202' }],
    ['410: the receiver is gone', 410, {}, '', { kind: 'gone', ...why('410') }],
    ['500: only this delivery waits', 500, {}, '', { ...one, ...why('500') }],
    [
      '400 with a reason in text',
      400,
      { 'content-type': 'text/plain' },
      'not\r\nlike\u0007 this',
      { ...one, ...why('400: not like this') },
    ],
    ['401 in JSON', 401, { 'content-type': 'application/json' }, '{"message":"who?"}', { ...one, ...why('401: who?') }],
    [
      '422 in JSON',
      422,
      { 'content-type': 'application/problem+json' },
      '{"error":"no"}',
      { ...one, ...why('422: no') },
    ],
    ['400 with malformed JSON', 400, { 'content-type': 'application/json' }, '{', { ...one, ...why('400') }],
    ['400 in JSON without an object', 400, { 'content-type': 'application/json' }, 'null', { ...one, ...why('400') }],
    ['404 with a page', 404, { 'content-type': 'text/html' }, '<h1>404</h1>', { ...one, ...why('404') }],
    ['500 with Retry-After', 500, { 'retry-after': '9' }, '', { ...one, ...why('500') }],
    ['302', 302, { location: 'https://example.com/' }, '', { ...one, ...why('302, and redirects are not followed') }],
    ['304', 304, {}, '', { ...one, ...why('304, and redirects are not followed') }],
    ['429', 429, {}, '', { ...all, ...why('429') }],
    ['429 with Retry-After in seconds', 429, { 'retry-after': '90' }, '', { ...all, ...why('429'), after_ms: 90_000 }],
    ['503 with Retry-After of zero', 503, { 'retry-after': '0' }, '', { ...all, ...why('503'), after_ms: 1_000 }],
    [
      '503 with Retry-After of a year',
      503,
      { 'retry-after': '31536000' },
      '',
      { ...all, ...why('503'), after_ms: 3_600_000 },
    ],
    [
      '503 with Retry-After as a date',
      503,
      { 'retry-after': inTwoHours },
      '',
      { ...all, ...why('503'), after_ms: 3_600_000 },
    ],
    ['503 with a malformed Retry-After', 503, { 'retry-after': 'soon' }, '', { ...all, ...why('503') }],
    ['502', 502, {}, '', { ...all, ...why('502') }],
    ['504', 504, {}, '', { ...all, ...why('504') }],
  ]
  test('decides the outcome', async (t) => {
    const { receiver, carry } = await stage()
    for (const [name, status, headers, body, outcome] of cases) {
      await t.test(name, async () => {
        receiver.answer = (reply) => reply.writeHead(status, headers).end(body)
        assert.deepEqual(await carry(), outcome)
      })
    }
  })

  test('is quoted without the secrets that it echoes, and truncated', async () => {
    const { receiver, channel, carry } = await stage({ headers: { authorization: 'Bearer gateway-key-1' } })
    receiver.answer = (reply) =>
      reply
        .writeHead(400, { 'content-type': 'text/plain' })
        .end(`${channel.secret} ${channel.secret.slice(6)} Bearer gateway-key-1 gateway-key-1 ${'x'.repeat(100_000)}`)
    const outcome = await carry()
    assert.ok(outcome.kind === 'try_again')
    const words = 'the receiver answered 400: [redacted] [redacted] [redacted] [redacted] x'
    assert.equal(outcome.why.slice(0, words.length), words)
    assert.ok(outcome.why.length <= 500)
  })
})

suite('the queue waits for a receiver', () => {
  const hangs: [string, (reply: ServerResponse) => unknown, RegExp][] = [
    ['that stays silent', () => undefined, /did not answer in time/],
    [
      'that never ends its answer',
      (reply) => void setInterval(() => reply.write('x'), 10).unref(),
      /did not answer in time/,
    ],
    ['with an answer that is too long', (reply) => reply.end(Buffer.alloc(1_048_577)), /longer than 1048576 bytes/],
    ['that does not answer in HTTP', ({ socket }) => socket?.end('hello\r\n\r\n'), /network error HPE_/],
    ['that closes the connection', ({ socket }) => socket?.destroy(), /network error ECONNRESET/],
  ]
  for (const [name, answer, why] of hangs) {
    test(`${name} (S1)`, async () => {
      const silent = /silent|never/.test(name)
      const { receiver, carry } = await stage({}, open, silent ? 100 : undefined)
      receiver.answer = answer
      const outcome = await carry()
      assert.ok(outcome.kind === 'try_again' && outcome.holds_up === 'all', JSON.stringify(outcome))
      assert.match(outcome.why, why)
    })
  }

  test('that cannot be reached', async () => {
    const channel = await create(`http://127.0.0.1:${await freePort()}/`)
    const outcome = await webhookCarrier({ sealer, egress: open }).carry(
      tx,
      channel,
      await deliveryTo(channel),
      staying,
    )
    const why = 'the receiver was not reached: network error ECONNREFUSED'
    assert.deepEqual(outcome, { kind: 'try_again', holds_up: 'all', why })
  })

  test('that speaks no TLS', async () => {
    const { receiver, channel } = await stage()
    await as('PATCH', `${path}/${channel.id}`, { url: receiver.url.replace('http:', 'https:') })
    const outcome = await webhookCarrier({ sealer, egress: open }).carry(
      tx,
      channel,
      await deliveryTo(channel),
      staying,
    )
    assert.ok(outcome.kind === 'try_again' && outcome.holds_up === 'all')
    assert.match(outcome.why, /network error (?:ERR_SSL|EPROTO)/)
  })

  test('that answers after the service has stopped', async () => {
    const { receiver, carry } = await stage()
    const leaving = new AbortController()
    receiver.answer = () => leaving.abort()
    const why = 'the service stopped before the receiver answered'
    assert.deepEqual(await carry(leaving.signal), { kind: 'try_again', holds_up: 'all', why })
  })
})

suite('the address of a receiver', () => {
  const found = (address: string) => Promise.resolve([{ address, family: 4 }])

  test('is checked again at each attempt: an internal one is not called, and the queue waits (S1)', async () => {
    const { receiver, carry } = await stage({}, openEgress(readEgressAllow('')))
    const outcome = await carry()
    assert.ok(outcome.kind === 'try_again' && outcome.holds_up === 'all')
    assert.match(outcome.why, /is not https/)
    assert.deepEqual(receiver.posted, [])
  })

  test('is not called if its name resolves to an internal address after it was saved (S1)', async () => {
    const { receiver, channel } = await stage()
    const rebinding = openEgress(readEgressAllow(''), () => found('127.0.0.1'))
    await house.asSuperuser(`update notification_channel set config = $2 where id = $1`, [
      channel.id,
      JSON.stringify({ url: receiver.url.replace('http://127.0.0.1', 'https://rebind.example') }),
    ])
    const carrier = webhookCarrier({ sealer, egress: rebinding })
    const outcome = await carrier.carry(tx, channel, await deliveryTo(channel), staying)
    assert.ok(outcome.kind === 'try_again' && outcome.holds_up === 'all')
    assert.match(outcome.why, /`rebind.example` leads into a network that EGRESS_ALLOW does not list/)
    assert.deepEqual(receiver.posted, [])
  })

  test('is not called for a deleted channel', async () => {
    const { receiver, channel, carry } = await stage()
    await as('DELETE', `${path}/${channel.id}`, undefined, 204)
    assert.deepEqual(await carry(), { kind: 'refused', why: 'the channel was deleted' })
    assert.deepEqual(receiver.posted, [])
  })
})
