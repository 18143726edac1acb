import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openMailTransport } from '../server/src/mail/mail-transport.ts'
import { type MailPeer, startMailPeer } from '../server/test/support/mail-peer.ts'
import type { Bench, Effort } from './bench.ts'
import { spread } from './ends.ts'
import { type Caller, callerOf, meanwhile } from './meanwhile.ts'
import { gather, startService } from './sallyport.ts'
import { addTenant } from './tenant.ts'

const connections = 20
const recipientsOfOne = 50

/**
 * Events of one tenant delivered to many mailboxes, by the real service with the embedded database to a mail server that
 * accepts everything; and the latency for another tenant meanwhile. The mail server runs in the bench's own process.
 */
export const deliveries: Bench = {
  summary: '10,000 mails of 50 events: how many a second, and the latency for another tenant meanwhile',
  async run(effort, say) {
    const size = effort.isMiniature ? { events: 5, channels: 1 } : { events: 50, channels: 4 }
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
    const peer = await startMailPeer()
    const service = await startService({
      ...{ DATA_DIR: folder, LOG_LEVEL: 'warn', SMTP_URL: peer.url, SMTP_TLS: 'never' },
      ...{ SMTP_CONNECTIONS: String(connections), SMTP_MESSAGES_PER_SECOND: '0' },
    })
    try {
      const other = await gather(service.base_url, folder)
      const sender = await seed(folder, service.base_url, size)
      say(`${size.channels} channels of ${recipientsOfOne} recipients are ready`)
      const reader = { tenant_id: other.tenant_id, token: other.owner.token }
      return await measure(service.base_url, peer, { reader, sender }, effort, size)
    } finally {
      await service.stop()
      await peer.stop()
      await rm(folder, { recursive: true, force: true })
    }
  },
}

type Size = { events: number; channels: number }

async function measure(
  base_url: string,
  peer: MailPeer,
  { reader, sender }: { reader: Caller; sender: Caller },
  effort: Effort,
  { events, channels }: Size,
) {
  const call = callerOf(base_url)
  const read = async () => {
    await call(reader, 'GET', '/v1/groups?limit=50')
  }
  await meanwhile(read, pause(effort.seconds * 500))
  const quiet = await meanwhile(read, pause(effort.seconds * 1_000))

  const mails = events * channels * recipientsOfOne
  const began = performance.now()
  const sendAll = async () => {
    for (let number = 0; number < events; number += 1)
      await call(sender, 'POST', '/v1/groups', { name: `group ${number}` })
    while (peer.taken.length < mails) await pause(20)
    return performance.now() - began
  }
  const sent = sendAll()
  const busy = await meanwhile(read, sent)
  const aSecond = (mails * 1_000) / (await sent)
  if (new Set(peer.taken.map(({ raw }) => /^Message-ID: (.*)$/im.exec(raw)?.[1])).size !== mails) {
    throw new Error('a mail arrived twice, or not at all')
  }
  const alone = await transportAlone(peer, mails)
  return {
    columns: ['ms', 'p50', 'p90', 'p99', 'max', 'count'],
    rows: [
      ['another tenant’s read meanwhile', ...spread(busy)],
      ['the same, quiet', ...spread(quiet)],
    ],
    notes: [
      `${mails} mails of ${events} events to ${channels * recipientsOfOne} recipients, each in order, over ${connections} connections: ${Math.round(aSecond)} a second.`,
      `The mail library alone sends ${Math.round(alone)} a second to the same server: with the ledger it is ${(aSecond / alone).toFixed(2)} of that.`,
    ],
  }
}

/** Mails per second of the transport alone, without events, ledger or texts. */
async function transportAlone(peer: MailPeer, mails: number): Promise<number> {
  const body = peer.taken.at(-1)?.raw ?? ''
  const server = {
    host: '127.0.0.1',
    port: peer.port,
    tls: 'never',
    login: undefined,
    connections,
    per_second: 0,
  } as const
  const transport = openMailTransport(server, 'localhost')
  const { signal } = new AbortController()
  const began = performance.now()
  let left = mails
  const sendSome = async () => {
    while (left > 0) {
      left -= 1
      const outcome = await transport.send(
        {
          ...{
            from: { name: 'Sallyport', address: 'sallyport@ops.example' },
            reply_to: undefined,
            to: 'a@ops.example',
          },
          ...{
            subject: 'the same',
            text: body.slice(0, 1_000),
            html: body,
            message_id: `${left}@localhost`,
            headers: {},
          },
        },
        signal,
      )
      if (outcome.kind !== 'delivered') throw new Error(JSON.stringify(outcome))
    }
  }
  await Promise.all(Array.from({ length: connections }, sendSome))
  const aSecond = (mails * 1_000) / (performance.now() - began)
  transport.close()
  return aSecond
}

/** A new tenant with this many channels; signs its owner in. */
async function seed(data_dir: string, base_url: string, { channels }: Size): Promise<Caller> {
  const caller = await addTenant(data_dir, base_url, 'sender')
  const call = callerOf(base_url)
  for (let number = 0; number < channels; number += 1) {
    const to_addresses = Array.from({ length: recipientsOfOne }, (_, index) => `r${index}-${number}@ops.example`)
    await call(caller, 'POST', '/v1/notification-channels/email', {
      ...{ name: `channel ${number}`, to_addresses, event_filters: ['group.created'] },
    })
  }
  return caller
}
