import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { openHouse } from '../../../test/support/house.ts'
import { readMail, startMailPeer } from '../../../test/support/mail-peer.ts'
import { readConfig } from '../../config/config.ts'
import { openMailer } from '../../mail/mailer.flow.ts'
import { addMailDomain, removeMailDomain } from '../../tenants/operator.flow.ts'
import type { Carrier, DeliveredEvent, Delivery } from '../carrier.ts'
import type { EmailChannel } from '../email-channel.ts'
import { emailCarrier } from './email-carrier.ts'

const house = await openHouse()
const acme = await house.tenant('Acme')
const other = await house.tenant('Other')
const peer = await startMailPeer()
const env = { SMTP_URL: peer.url, SMTP_MESSAGES_PER_SECOND: '0', MAIL_FROM: 'sallyport@ops.example' }
const mailer = openMailer(readConfig(env))
const { public_url } = readConfig(env)
const carrier = emailCarrier(mailer, public_url)
const patient = new AbortController().signal
after(async () => {
  await carrier.close()
  await peer.stop()
})

type Tenant = typeof acme

const as = ({ tenant_id, owner }: Tenant, method: string, url: string, body: unknown) =>
  house.call({ method, url, api_key: owner.api_key, tenant_id, body })

async function channelOf(tenant: Tenant, more: object = {}): Promise<EmailChannel> {
  const body = { name: 'Security', to_addresses: ['ada@example.com'], ...more }
  const { status, body: made } = await as(tenant, 'POST', '/v1/notification-channels/email', body)
  assert.equal(status, 201)
  return made as EmailChannel
}

/** A delivery of the event of a channel's creation. */
async function deliveryOf(channel: EmailChannel, more: Partial<Delivery> = {}): Promise<Delivery> {
  const [event] = await house.asSuperuser<DeliveredEvent>(
    `select id, type, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, actor_id, subject_type,
      subject_id, data from event where subject_id = $1`,
    [channel.id],
  )
  assert.ok(event !== undefined)
  return { id: event.id, event, recipient: 'ada@example.com', resends: 0, ...more }
}

/** Carries one delivery, and returns the mail that arrived. */
async function carried(tenant: Tenant, channel: EmailChannel, delivery: Delivery, by: Carrier = carrier) {
  const outcome = await by.carry(house.database.tenant(tenant.tenant_id), channel, delivery, patient)
  assert.equal(outcome.kind, 'delivered')
  const taken = peer.taken.at(-1)
  assert.ok(taken !== undefined)
  return { taken, mail: await readMail(taken) }
}

suite('a mail', () => {
  const always = [
    ...['auto-submitted', 'content-type', 'date', 'from', 'list-id', 'message-id', 'mime-version', 'subject', 'to'],
    ...['x-auto-response-suppress', 'x-sallyport-event'],
  ]

  test('goes to its recipient alone, with text and HTML, and a fixed list of headers (J8)', async () => {
    const channel = await channelOf(acme, { to_addresses: ['ada@example.com', 'bob@example.com'] })
    const { taken, mail } = await carried(acme, channel, await deliveryOf(channel))
    assert.equal(taken.to, 'ada@example.com')
    assert.deepEqual(mail.to, [{ name: '', address: 'ada@example.com' }])
    assert.ok(!taken.raw.includes('bob@example.com'))
    assert.deepEqual(mail.from, { name: 'Sallyport', address: 'sallyport@ops.example' })
    assert.deepEqual(mail.headers.map(({ key }) => key).sort(), always)
    assert.ok(mail.text && mail.html)
    const header = (name: string) => mail.headers.find(({ key }) => key === name)?.value
    assert.equal(header('auto-submitted'), 'auto-generated')
    assert.equal(header('list-id'), `<${channel.id}.ops.example>`)
    assert.equal(header('x-sallyport-event'), 'notification_channel.created')
  })

  test('is never sent to an address under `.invalid`, which people of a rehearsal have', async () => {
    const channel = await channelOf(acme)
    const sent = peer.taken.length
    for (const recipient of ['ada@rehearsal.invalid', 'ada@INVALID', 'ada@a.b.invalid.']) {
      const delivery = await deliveryOf(channel, { recipient })
      const outcome = await carrier.carry(house.database.tenant(acme.tenant_id), channel, delivery, patient)
      assert.equal(outcome.kind, 'refused', recipient)
    }
    assert.equal(peer.taken.length, sent)
    await carried(acme, channel, await deliveryOf(channel, { recipient: 'ada@invalid.example.com' }))
  })

  test('has the same headers whatever its channel is called (J8)', async () => {
    const names = ['Bcc: evil@example.com', 'x'.repeat(200), '"quoted", <a@example.com>;', 'Zugänge – доступ 😀']
    for (const name of names) {
      const channel = await channelOf(acme, { name, subject_prefix: name.slice(0, 100) })
      const { taken, mail } = await carried(acme, channel, await deliveryOf(channel))
      assert.deepEqual(mail.headers.map(({ key }) => key).sort(), always)
      assert.equal(taken.to, 'ada@example.com')
      assert.ok(mail.subject?.startsWith(name.slice(0, 20)))
    }
  })

  test('has the same id in every attempt, and another when it is resent by hand (F9)', async () => {
    const channel = await channelOf(acme)
    const delivery = await deliveryOf(channel)
    const ids: unknown[] = []
    for (const resends of [0, 0, 1]) {
      ids.push((await carried(acme, channel, { ...delivery, resends })).mail.messageId)
    }
    assert.deepEqual(
      ids,
      [0, 0, 1].map((resends) => `<${delivery.id}.${resends}@ops.example>`),
    )
  })

  test('waits while no mail server is configured, and the outcome says what is missing (F9)', async () => {
    const without = emailCarrier(openMailer(readConfig({})), public_url)
    const channel = await channelOf(acme)
    const tx = house.database.tenant(acme.tenant_id)
    const outcome = await without.carry(tx, channel, await deliveryOf(channel), patient)
    assert.match(JSON.stringify(outcome), /"try_again".*SMTP_URL.*"all"/)
    await without.close()
  })
})

suite('the sender', () => {
  const sender = async (tenant: Tenant, channel: EmailChannel) => {
    const { taken, mail } = await carried(tenant, channel, await deliveryOf(channel))
    return { envelope: taken.from, from: mail.from?.address, reply_to: mail.replyTo?.map(({ address }) => address) }
  }
  const ours = { envelope: 'sallyport@ops.example', from: 'sallyport@ops.example' }

  test('is the tenant’s address if the operator allows its domain; otherwise only replies go there (J8)', async () => {
    const wanted = 'access@acme.example'
    const channel = await channelOf(acme, { from_address: wanted })
    const answered = { ...ours, reply_to: [wanted] }
    const itself = { envelope: wanted, from: wanted, reply_to: undefined }
    assert.deepEqual(await sender(acme, channel), answered)
    const domain = { tenant_id: acme.tenant_id, domain: 'acme.example' }
    await addMailDomain(house.database, domain)
    assert.deepEqual(await sender(acme, channel), itself)
    // A domain that is allowed for one tenant is not allowed for another.
    assert.deepEqual(await sender(other, await channelOf(other, { from_address: wanted })), answered)
    await removeMailDomain(house.database, domain)
    assert.deepEqual(await sender(acme, channel), answered)
  })

  test('comes from the setting if the channel names none (J8)', async () => {
    const channel = await channelOf(other)
    assert.deepEqual(await sender(other, channel), { ...ours, reply_to: undefined })
    const set = await as(other, 'PUT', '/v1/settings/notifications.from_address', { value: 'it@other.example' })
    assert.equal(set.status, 200)
    assert.deepEqual(await sender(other, channel), { ...ours, reply_to: ['it@other.example'] })
    const own = await channelOf(other, { from_address: 'desk@other.example' })
    assert.deepEqual(await sender(other, own), { ...ours, reply_to: ['desk@other.example'] })
  })
})
