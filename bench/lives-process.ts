import { setTimeout as pause } from 'node:timers/promises'
import { type ConnectionTarget, connectAlone } from '../server/src/db/client/connect.ts'
import type { Database } from './ends.ts'
import { type Asker, byPerson, byRule } from './houses.ts'
import { keyedCall } from './keyed-call.ts'
import { type Lane, openLane } from './lane.ts'
import { processorMs } from './processor-time.ts'

/**
 * A separate process in which people ask for access, an approver approves every second request, and access ends early. It
 * receives its order from its parent, and returns the lives.
 */
export type LivesOrder = {
  port: number
  database: ConnectionTarget
  askers: readonly Asker[]
  lives: number
  /** Requests at once, and as many revocations. */
  atOnce: number
  /** Asks a second; null: as fast as the answers come. */
  perSecond: number | null
  /** Who decides: a person every second request, or all; or all of them once all have been asked for. Default: every second. */
  approve?: 'half' | 'all' | 'afterwards'
  /** Each grant is revoked as soon as it is active, or all of them once all are. */
  revoke: 'each' | 'all'
  /** The first of as many accounts, each named once. */
  firstAccount: number
  /** Whose processor time is counted. */
  processes?: { postgres: number; node: number }
}

/** One life cycle. Moments are milliseconds since 1970, by the clock that the database has too. */
export type Life = {
  request_id: string
  /** The place of its asker in the order. */
  asker: number
  asked: number
  /** When a person began to approve it; 0 if a rule did. */
  approving: number
  /** When the request, and its approval if a person approves it, was answered. */
  approved: number
  revoked: number
}

/** `seconds`: all of it. `until_active`: processor time from the first approval until all is active, in ms, if all are approved afterwards. */
export type Lived = { lives: Life[]; seconds: number; until_active?: Processors | undefined }

type Processors = { postgres_ms: number; node_ms: number }

const now = () => performance.timeOrigin + performance.now()

process.on('message', (order: LivesOrder) => {
  void live(order).then(
    (lived) => process.send?.(lived),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
})

async function live(order: LivesOrder): Promise<Lived> {
  const { lives: count, atOnce, perSecond } = order
  const database = await connectAlone(order.database)
  const asking = await Promise.all(Array.from({ length: atOnce }, () => openLane(order.port)))
  const ending = await Promise.all(Array.from({ length: atOnce }, () => openLane(order.port)))
  const lives = new Map<string, Life>()
  const activated = await watchActivated(database)
  const began = now()
  const each = (once: (lane: Lane, place: number) => Promise<unknown>) => {
    let next = 0
    const follow = async (lane: Lane) => {
      while (next < count) await once(lane, next++)
    }
    return Promise.all(asking.map(follow))
  }
  const ask = async (lane: Lane, place: number) => {
    if (perSecond !== null) await pause(Math.max(0, began + (place * 1000) / perSecond - now()))
    const life = await askOnce(lane, order, place)
    lives.set(life.request_id, life)
    if (order.approve !== 'afterwards' && isByPerson(order, place)) await approveOnce(lane, order, life)
  }
  let before: Processors | undefined
  const approveAll = async () => {
    before = processorsOf(order)
    const all = [...lives.values()]
    await each((lane, place) => approveOnce(lane, order, all[place] as Life))
  }
  const asked = each(ask).then(() => (order.approve === 'afterwards' ? approveAll() : undefined))
  let until_active: Processors | undefined
  const whenActive = () => {
    const after = processorsOf(order)
    if (before === undefined || after === undefined) return
    until_active = { postgres_ms: after.postgres_ms - before.postgres_ms, node_ms: after.node_ms - before.node_ms }
  }
  await endEach(order, database, lives, ending, activated, asked, whenActive)
  await database.end()
  for (const lane of [...asking, ...ending]) lane.close()
  return { lives: [...lives.values()], seconds: (now() - began) / 1000, until_active }
}

const isByPerson = ({ approve = 'half' }: LivesOrder, place: number) => approve !== 'half' || place % 2 === 0

function processorsOf({ processes }: LivesOrder): Processors | undefined {
  if (processes === undefined) return undefined
  const [postgres_ms, node_ms] = [processorMs(processes.postgres), processorMs(processes.node)]
  return postgres_ms === undefined || node_ms === undefined ? undefined : { postgres_ms, node_ms }
}

async function askOnce(lane: Lane, order: LivesOrder, place: number): Promise<Life> {
  const number = place % order.askers.length
  const asker = askerOf(order, number)
  const body = {
    resource: { type: 'cloud_account', id: String(order.firstAccount + place).padStart(12, '0') },
    action: isByPerson(order, place) ? byPerson : byRule,
    reason: 'a look at the logs',
    duration_seconds: 3_600,
  }
  const asked = now()
  const { id } = await keyedCall<{ id: string }>({ lane, port: order.port }, asker, 'POST', '/v1/requests', body)
  return { request_id: id, asker: number, asked, approving: 0, approved: now(), revoked: 0 }
}

async function approveOnce(lane: Lane, order: LivesOrder, life: Life): Promise<void> {
  const { tenant_id, approver_key } = askerOf(order, life.asker)
  const approver = { tenant_id, key: approver_key }
  life.approving = now()
  await keyedCall({ lane, port: order.port }, approver, 'POST', `/v1/requests/${life.request_id}/approve`, {})
  life.approved = now()
}

function askerOf({ askers }: LivesOrder, number: number): Asker {
  const asker = askers[number]
  if (asker === undefined) throw new Error('nobody asks')
  return asker
}

type Active = { tenant_id: string; grant_id: string; request_id: string }

/** Revokes grants by the event that they are active, and returns when all of them are gone. */
async function endEach(
  order: LivesOrder,
  database: Database,
  lives: ReadonlyMap<string, Life>,
  ending: readonly Lane[],
  activated: () => Promise<Active[]>,
  asked: Promise<unknown>,
  whenActive: () => void,
): Promise<void> {
  const active: Active[] = []
  const revoked: Active[] = []
  const free = [...ending]
  const calls = new Set<Promise<unknown>>()
  let seen = 0
  const end = async (lane: Lane, grant: Active) => {
    const life = lives.get(grant.request_id)
    if (life === undefined) throw new Error(`the grant ${grant.grant_id} was not asked for`)
    const { key } = askerOf(order, life.asker)
    life.revoked = now()
    await keyedCall(
      { lane, port: order.port },
      { tenant_id: grant.tenant_id, key },
      'POST',
      `/v1/grants/${grant.grant_id}/revoke`,
      {},
    )
    revoked.push(grant)
    free.push(lane)
  }
  while (seen < order.lives || active.length > 0 || calls.size > 0) {
    const found = await activated()
    seen += found.length
    if (found.length > 0 && seen === order.lives) whenActive()
    active.push(...found)
    const mayEnd = order.revoke === 'each' || seen === order.lives
    // An event may be seen before the answer to the call that caused it.
    const known = mayEnd ? active.filter(({ request_id }) => lives.has(request_id)) : []
    for (const grant of known.slice(0, free.length)) {
      active.splice(active.indexOf(grant), 1)
      const call = end(free.pop() as Lane, grant).finally(() => calls.delete(call))
      calls.add(call)
    }
    await pause(10)
  }
  await asked
  await untilGone(database, revoked)
}

/** The grants that have become active since the last call, in the order of their commits. */
async function watchActivated(database: Database): Promise<() => Promise<Active[]>> {
  let place = await lastPlace(database)
  return async () => {
    const { rows } = await database.query<Active & { xid: string; seq: string; type: string }>(
      `select xid::text, seq::text, type, tenant_id, subject_id as grant_id, data ->> 'request_id' as request_id
        from event
        where (xid, seq) > ($1::xid8, $2::bigint) and xid < pg_snapshot_xmin(pg_current_snapshot())
        order by event.xid, event.seq limit 5000`,
      place,
    )
    const last = rows.at(-1)
    if (last !== undefined) place = [last.xid, last.seq]
    return rows.filter(({ type }) => type === 'grant.activated')
  }
}

async function lastPlace(database: Database): Promise<[string, string]> {
  const { rows } = await database.query<{ xid: string; seq: string }>(
    'select xid::text, seq::text from event order by event.xid desc, event.seq desc limit 1',
  )
  return [rows[0]?.xid ?? '0', rows[0]?.seq ?? '0']
}

async function untilGone(database: Database, grants: readonly Active[]): Promise<void> {
  let left = grants
  while (left.length > 0) {
    const { rows } = await database.query<{ id: string }>(
      `select g.id from unnest($1::uuid[], $2::uuid[]) as one (tenant_id, id)
        cross join lateral (select id from access_grant g where g.tenant_id = one.tenant_id and g.id = one.id
          and g.provisioning_status <> 'deprovisioned' offset 0) g`,
      [left.map((one) => one.tenant_id), left.map((one) => one.grant_id)],
    )
    const ids = new Set(rows.map(({ id }) => id))
    left = left.filter(({ grant_id }) => ids.has(grant_id))
    if (left.length > 0) await pause(20)
  }
}
