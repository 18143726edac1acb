import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { endLeasesNow } from '../support/end-leases.ts'
import { freePort } from '../support/free-port.ts'
import { readMail, startMailPeer, type TakenMail } from '../support/mail-peer.ts'
import { type Sallyport, startOnTestServer } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

/** The service as a process whose mail server is unreachable for a day, and then returns; and one that is killed meanwhile. */
const port = await freePort()
const connections = 3
const sallyport = await startOnTestServer({
  SMTP_URL: `smtp://127.0.0.1:${port}`,
  SMTP_TLS: 'never',
  SMTP_CONNECTIONS: String(connections),
  SMTP_MESSAGES_PER_SECOND: '0',
})
const { asSuperuser } = sallyport
const recipients = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@ops.example`)

const keyOf = (process: Sallyport) => process.client({ api_key: process.bootstrap.api_key })

type Sent = { id: string; recipient: string; status: string; last_error: string | null }

/** All deliveries of this channel, in the order that each recipient must see. */
const ledger = (channel_id: string) =>
  asSuperuser<Sent>(
    `select d.id, l.recipient, d.status, d.last_error from delivery d
      join delivery_lane l on l.tenant_id = d.tenant_id and l.id = d.lane_id
      where d.channel_id = $1 order by d.xid, d.seq`,
    [channel_id],
  )

async function makeBacklog(name: string, events: number): Promise<string> {
  const key = keyOf(sallyport)
  const channel = await key<{ id: string }>('POST', '/v1/notification-channels/email', {
    ...{ name, to_addresses: recipients, event_filters: ['group.created'] },
  })
  for (let number = 0; number < events; number += 1) {
    const made = await key('POST', '/v1/groups', { name: `${name} ${number}` })
    assert.equal(made.status, 201, 'a change never waits for the mail server')
  }
  await until(
    'all deliveries are listed',
    async () => (await ledger(channel.body.id)).length === events * recipients.length,
  )
  return channel.body.id
}

/** The ids of this recipient's deliveries, in the order in which the mail server accepted them. */
async function takenBy(taken: readonly TakenMail[], recipient: string): Promise<string[]> {
  const mails = await Promise.all(taken.filter(({ to }) => to === recipient).map(readMail))
  return mails.map(({ messageId }) => /^<([0-9a-f-]{36})\./.exec(messageId ?? '')?.[1] ?? '')
}

test('after a day without the mail server each recipient gets every mail, in order, and no change had to wait (F9)', async () => {
  const channel_id = await makeBacklog('outage', 12)
  await until('every recipient was tried', async () => {
    const tried = new Set((await ledger(channel_id)).flatMap((one) => (one.last_error === null ? [] : [one.recipient])))
    return tried.size === recipients.length
  })
  assert.ok((await ledger(channel_id)).every(({ status }) => status === 'pending'))
  // As if a day had passed.
  await asSuperuser(`update delivery set created_at = created_at - interval '1 day',
    give_up_at = give_up_at - interval '1 day',
    attempted_at = attempted_at - interval '1 day' where finished_at is null`)

  const peer = await startMailPeer({ port })
  after(() => peer.stop())
  let [open, most] = [0, 0]
  peer.behave = (step) => {
    if (step === 'mail') open += 1
    if (step === 'end') open -= 1
    most = Math.max(most, open)
    return 'go on'
  }
  await asSuperuser('update delivery_lane set next_look_at = clock_timestamp() where failures > 0')
  const key = keyOf(sallyport)
  await until('all is delivered', async () => {
    assert.equal((await key('GET', '/v1/groups?limit=1')).status, 200, 'requests are served meanwhile')
    return (await ledger(channel_id)).every(({ status }) => status === 'delivered')
  })
  const rows = await ledger(channel_id)
  for (const recipient of recipients) {
    const meant = rows.filter((row) => row.recipient === recipient).map(({ id }) => id)
    assert.deepEqual(await takenBy(peer.taken, recipient), meant, recipient)
  }
  assert.ok(most <= connections, `${most} mails at once`)
  await peer.stop()
  assert.equal((await key('DELETE', `/v1/notification-channels/${channel_id}`)).status, 204)
})

test('killed in the middle of a backlog, it sends everything, twice only the mails in flight, under one id (F9)', async () => {
  const channel_id = await makeBacklog('killed', 12)
  const peer = await startMailPeer({ port })
  after(() => peer.stop())
  // The server has accepted the last of these, and its answer is lost.
  let swallowed = 0
  peer.behave = (step) => {
    if (step !== 'end' || peer.taken.length < 20) return 'go on'
    swallowed += 1
    return 'swallow'
  }
  await asSuperuser('update delivery_lane set next_look_at = clock_timestamp() where failures > 0')
  await until('the server has all mails in flight', async () => swallowed === connections)
  await sallyport.kill()
  peer.hangUp()
  assert.ok((await ledger(channel_id)).filter(({ status }) => status === 'pending').length > connections)

  peer.behave = () => 'go on'
  await endLeasesNow(asSuperuser)
  await sallyport.beside()
  await until('all is delivered', async () => (await ledger(channel_id)).every(({ status }) => status === 'delivered'))
  const rows = await ledger(channel_id)
  let twice = 0
  for (const recipient of recipients) {
    const meant = rows.filter((row) => row.recipient === recipient).map(({ id }) => id)
    const got = await takenBy(peer.taken, recipient)
    assert.deepEqual([...new Set(got)], meant, `${recipient}: every mail, in order`)
    twice += got.length - meant.length
  }
  assert.equal(twice, connections, 'only the mails without an answer are sent twice')
})
