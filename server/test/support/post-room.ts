import { isDeepStrictEqual } from 'node:util'
import { sql } from '../../src/db/sql.ts'
import { emit, type NewEvent } from '../../src/events/emit.ts'
import { claimDue } from '../../src/jobs/claim.ts'
import { systemActor } from '../../src/kernel/context.ts'
import { newId } from '../../src/kernel/id.ts'
import type { SendOutcome } from '../../src/kernel/send-outcome.ts'
import type { Carrier, Carriers, Delivery } from '../../src/notification-channels/carrier.ts'
import { type DeliveryDependencies, deliverDue } from '../../src/notification-channels/delivery/deliver-queue.job.ts'
import { notifyChannels } from '../../src/notification-channels/delivery/notify-channels.subscriber.ts'
import { deliver, waitingFor } from './deliver.ts'
import type { House, TestTenant } from './house.ts'
import { until } from './wait.ts'
import { noPost, startWorkers } from './workers.ts'

type Behave = (delivery: Delivery, channel: { id: string }) => SendOutcome | Promise<SendOutcome>

const delivered: SendOutcome = { kind: 'delivered', said: '250 taken' }

type TestCarrier = Carrier & {
  behave: Behave
  carried: { id: string; event_id: string; recipient: string; data: Record<string, unknown> }[]
}

/** A carrier that accepts everything, or behaves as a test says, and records its deliveries. */
export function openTestCarrier(behave: Behave = () => delivered) {
  const carrier: TestCarrier = {
    maxMs: 60_000,
    behave,
    carried: [],
    carry: async (_tx, channel, delivery) => {
      const { id, event, recipient } = delivery
      carrier.carried.push({ id, event_id: event.id, recipient, data: event.data })
      return carrier.behave(delivery, channel)
    },
    close: async () => undefined,
  }
  return carrier
}

function postWith(carriers: Partial<Carriers>, leaving = noPost.leaving): DeliveryDependencies {
  return { carriers: { ...noPost.carriers, ...carriers }, leaving }
}

/** Reads the deliveries from their tables. */
function openLedger(house: House) {
  /** The deliveries of a channel, in the order of the events. */
  const deliveries = (channel_id: string) =>
    house.asSuperuser<Row>(
      `select d.*, l.recipient, l.failures from delivery d join delivery_lane l on l.tenant_id = d.tenant_id
        and l.id = d.lane_id
        where d.channel_id = $1 order by d.xid, d.seq, l.recipient`,
      [channel_id],
    )
  /** The status and last error of each delivery. */
  const seen = async (channel_id: string) =>
    (await deliveries(channel_id)).map(({ status, last_error }) => [status, last_error])
  const becomes = (channel_id: string, wanted: unknown[][]) =>
    until(`it becomes ${JSON.stringify(wanted)}`, async () => isDeepStrictEqual(await seen(channel_id), wanted))
  return { deliveries, seen, becomes }
}

/** Creates and sends a house's deliveries, as its workers would. */
export function openPostRoom(house: House) {
  const call = (tenant: TestTenant, method: string, url: string, body?: unknown) =>
    house.call({ method, url, api_key: tenant.owner.api_key, tenant_id: tenant.tenant_id, body })
  const sending: { stop(): Promise<void> }[] = []
  /** Creates the deliveries of all events so far. */
  const createDeliveries = async (): Promise<void> => {
    const failed = (_failed: unknown, error: unknown) => {
      throw error
    }
    // An event after a transaction that is still open anywhere on the server is not delivered yet.
    await until('all events are delivered', async () => {
      await deliver(house.database, notifyChannels, failed)
      return (await house.asSuperuser(waitingFor, [notifyChannels.name])).length === 0
    })
  }
  return {
    call,
    /** Makes a channel of this tenant; returns its id. */
    async channel(tenant: TestTenant, to_addresses: string[], more: object = {}): Promise<string> {
      const body = { name: 'a channel', to_addresses, ...more }
      const made = await call(tenant, 'POST', '/v1/notification-channels/email', body)
      if (made.status !== 201) throw new Error(made.text)
      return String(made.body.id)
    },
    /** Emits events, each in its own transaction; returns their ids. */
    async happen(tenant: TestTenant, count = 1, type: NewEvent['type'] = 'group.created'): Promise<string[]> {
      const tx = house.database.tenant(tenant.tenant_id)
      const ids: string[] = []
      for (let number = 1; number <= count; number += 1) {
        const event = { type, subject_type: 'group', subject_id: newId(), data: { number } }
        const ctx = { tx, actor: systemActor, request_id: 'test' }
        const [[made]] = await tx.write([sql<{ id: string }>`${emit(ctx, event)} returning id`])
        ids.push(made?.id ?? '')
      }
      return ids
    },
    createDeliveries,
    /** Sends due deliveries from now on; deliveries of other types of channel wait. */
    send(carriers: Partial<Carriers>, leaving = noPost.leaving) {
      const workers = startWorkers(house, deliverDue(postWith(carriers, leaving)))
      sending.push(workers)
      return workers
    },
    /** Claims the one recipient queue that is due, as a process without other work would, and runs its job once. */
    async runQueueJob(tenant: TestTenant, carriers: Partial<Carriers>): Promise<void> {
      const claimQuery = { table: 'delivery_lane', part: 'email', max: 1, maxPerTenant: 1, without: [] } as const
      const [claim] = await claimDue(house.database, [claimQuery])
      const item = claim?.items[0]
      const [work] = deliverDue(postWith(carriers))
      if (item === undefined || work === undefined) throw new Error('no recipient queue is due')
      await work.run({ tx: house.database.tenant(tenant.tenant_id), actor: systemActor, request_id: 'test' }, item)
    },
    /** Stops sending, and deletes every delivery; events so far create no more deliveries. */
    async clear(): Promise<void> {
      for (const workers of sending.splice(0)) await workers.stop()
      await createDeliveries()
      await house.asSuperuser('truncate delivery, delivery_lane')
    },
    ...openLedger(house),
  }
}

type Row = {
  id: string
  event_id: string
  recipient: string
  status: string
  attempts: number
  last_error: string | null
  last_response: string | null
  failures: number
  lane_id: string
}
