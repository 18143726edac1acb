import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../server/test/support/wait.ts'
import { logRecipient, releaseEvents, waitingEvents } from './crowds-events.ts'
import type { CrowdsPeers } from './crowds-peers.ts'
import { type CrowdsHouse, type CrowdsSize, importRules } from './crowds-stage.ts'
import type { CrowdsTenant, Running } from './crowds-tenant.ts'
import type { Database } from './ends.ts'
import { type Asker, byPerson, byRule } from './houses.ts'
import { callOnce } from './keyed-call.ts'
import { connectionClosed } from './lane.ts'

/** What the crowds did, so that a reader sees that they were busy. */
export type Busy = {
  seconds: number
  /** Events that the subscriber `notifications` was handed, those that still wait at the end, and mails of the channel. */
  delivered: number
  waiting: number
  channelMails: number
  /** Imports that were saved; the messages of those that were refused, or whose connection was closed before the answer. */
  imports: number
  refused: string[]
  /** Calls that hang, several times a second. */
  hanging: number[]
  /** Mails to people, those that still wait at the end, and requests that people are notified of. */
  mails: number
  mailsWaiting: number
  requests: number
}

/** Milliseconds between two requests that every recipient is notified of. */
const betweenRequestsMs = 2_000

/** Starts the four crowds on a service that has just begun, and waits until they are busy. The returned function ends them, as far as the service does not work by itself. */
export async function startCrowds(
  house: CrowdsHouse,
  running: Running,
  size: CrowdsSize,
  peers: CrowdsPeers,
): Promise<() => Promise<Busy>> {
  const { tenants } = house
  const { database } = running
  const leaving = new AbortController()
  const busy = { refused: [] as string[], hanging: [] as number[], requests: 0 }
  await releaseEvents(database, house.events)
  await forgetSent(database, tenants.mails)
  await askForTarget(running, tenants.target, size.waiting)
  peers.takeMails(logRecipient)
  let before = await waitingEvents(database, house.events)
  const works = [
    repeat(leaving.signal, 0, async () => {
      const imported = importRules(running, tenants.rules, size.rules, nextEdition())
      await imported.catch((error: Error) => busy.refused.push(error.message.slice(0, 200)))
    }),
    repeat(leaving.signal, betweenRequestsMs, async () => {
      await ask(running, tenants.mails, byPerson)
      busy.requests += 1
    }),
    repeat(leaving.signal, 200, () => void busy.hanging.push(peers.hanging())),
  ]
  const isBusy = async () =>
    peers.hanging() > 0 && peers.hasMailBeside(logRecipient) && (await waitingEvents(database, house.events)) < before
  await until('all crowds are busy', isBusy)
  before = await waitingEvents(database, house.events)
  busy.hanging.length = 0
  peers.takeMails(logRecipient)
  const savedBefore = await savedImports(database, tenants.rules)
  const began = performance.now()
  return async () => {
    const waiting = await waitingEvents(database, house.events)
    const { all, his } = peers.takeMails(logRecipient)
    const seconds = (performance.now() - began) / 1_000
    leaving.abort()
    await Promise.all(works)
    const imports = (await savedImports(database, tenants.rules)) - savedBefore
    const mailsWaiting = await waitingMails(database, tenants.mails)
    return {
      ...busy,
      ...{ seconds, waiting, delivered: before - waiting, channelMails: his },
      ...{ imports, mails: all - his, mailsWaiting },
    }
  }
}

/** Why a crowd was idle for a part of the time; undefined: all were busy. */
export function findIdle(busy: Busy): string | undefined {
  const { delivered, waiting, imports, refused, hanging, mails, mailsWaiting } = busy
  if (delivered === 0 || waiting === 0) return `${delivered} waiting events were delivered, and ${waiting} still wait`
  // The service goes on with an import whose connection it closed.
  if (imports === 0 && !refused.includes(connectionClosed)) return `no import of rules was saved: ${refused[0]}`
  if (hanging.filter((count) => count > 0).length < hanging.length * 0.9) return 'no call hung for a part of the time'
  return mails === 0 || mailsWaiting === 0 ? `${mails} mails were sent, and ${mailsWaiting} still wait` : undefined
}

async function repeat(signal: AbortSignal, betweenMs: number, work: () => unknown): Promise<void> {
  while (!signal.aborted) {
    const next = performance.now() + betweenMs
    await work()
    await pause(Math.max(0, next - performance.now()), undefined, { signal }).catch(() => undefined)
  }
}

let edition = 0

function nextEdition(): number {
  edition += 1
  return edition
}

let asked = 0

async function ask({ port }: Running, { askers }: CrowdsTenant, action: string): Promise<void> {
  asked += 1
  const asker = askers[asked % askers.length] as Asker
  const resource = { type: 'cloud_account', id: String(400_000_000_000 + asked) }
  const body = { resource, action, reason: 'a look at the logs', duration_seconds: 3_600 }
  await callOnce(port, asker, 'POST', '/v1/requests', body)
}

/** Access that waits for the target that hangs; that of the times before may have been given up. */
async function askForTarget(running: Running, tenant: CrowdsTenant, count: number): Promise<void> {
  for (let number = 0; number < count; number += 10)
    await Promise.all(Array.from({ length: Math.min(10, count - number) }, () => ask(running, tenant, byRule)))
}

/** A person gets so many mails in an hour: those of the times before count as older. */
async function forgetSent(database: Database, { tenant_id }: CrowdsTenant): Promise<void> {
  await database.query(
    `update notification_mail set sent_at = sent_at - interval '1 hour' where tenant_id = $1 and sent_at is not null`,
    [tenant_id],
  )
}

async function waitingMails(database: Database, { tenant_id }: CrowdsTenant): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    'select count(*)::int from notification_mail where tenant_id = $1 and next_look_at <= clock_timestamp()',
    [tenant_id],
  )
  return rows[0]?.count ?? 0
}

async function savedImports(database: Database, { tenant_id }: CrowdsTenant): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    `select count(*)::int from event where tenant_id = $1 and type = 'policy.updated'`,
    [tenant_id],
  )
  return rows[0]?.count ?? 0
}
