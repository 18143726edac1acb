import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

/** A message that the Standard Webhooks library accepted. */
export type Received = {
  id: string
  type: string
  timestamp: string
  data: Record<string, unknown>
  headers: IncomingHttpHeaders
}

type Reply = { status: number; body?: unknown; text?: string; headers?: Record<string, string> }

/** A receiver's answer; undefined: it never answers. */
type Behave = (received: Received, usual: () => Reply) => Reply | undefined | Promise<Reply | undefined>

/** A user that a receiver does not know. */
export const unknownEmail = 'nobody@example.com'

type Job = {
  kind: string
  entitlement: string
  until: unknown
  data: Record<string, unknown>
  polls: number
  done: boolean
}

/** What a receiver that lists keeps: the data of the grant of each access that it holds, and a claim for each provisioner. */
function openLists() {
  const kept = new Map<string, Record<string, unknown>>()
  const claims = new Map<string, unknown>()
  return {
    kept,
    claims,
    note({ kind, entitlement, data }: Job) {
      if (kind === 'access.grant') kept.set(entitlement, data)
      else kept.delete(entitlement)
    },
    'access.list': (_data: Record<string, unknown>) => ({ access: [...kept.values()], after: null }),
    'access.claim'(data: Record<string, unknown>) {
      const provisioner = String(data.provisioner_id)
      const claim = claims.get(provisioner) ?? null
      if (data.claim !== null) claims.set(provisioner, data.claim)
      return { claim }
    },
  }
}

/**
 * A receiver whose signatures the library of Standard Webhooks checks. It executes each id once. With `later` it answers 202,
 * and is done after so many repeated calls, or when the test says so.
 */
export async function startReceiver(secret: string, { later = 0 } = {}) {
  const held = new Map<string, unknown>()
  const lists = openLists()
  const jobs = new Map<string, Job>()
  const received: Received[] = []
  const receiver = {
    secret,
    later,
    behave: ((_received, usual) => usual()) as Behave,
    held,
    ...lists,
    received,
    refused: 0,
    /** Completes the act that it works on. */
    finish(id: string) {
      const job = jobs.get(id)
      if (job === undefined || job.done) return
      job.done = true
      if (job.kind === 'access.grant') held.set(job.entitlement, job.until)
      else held.delete(job.entitlement)
      lists.note(job)
    },
    url: '',
    stop: () =>
      new Promise<void>((done) => {
        server.closeAllConnections()
        server.close(() => done())
      }),
  }

  const usual = ({ id, type, data }: Received): Reply => {
    const entitlement = String(data.entitlement)
    const currentState = () =>
      held.has(entitlement) ? { status: 'held', until: held.get(entitlement) } : { status: 'absent' }
    if ((data.user as { email?: string } | undefined)?.email === unknownEmail) {
      return { status: 422, body: { message: 'nobody is known here by that address' } }
    }
    if (type === 'access.ping') return { status: 200, body: { status: 'ok' } }
    if (type === 'access.list' || type === 'access.claim') return { status: 200, body: lists[type](data) }
    if (type === 'access.plan' || type === 'access.verify') return { status: 200, body: currentState() }
    const job = jobs.get(id) ?? { kind: type, entitlement, until: data.until, data, polls: 0, done: false }
    jobs.set(id, job)
    if (job.polls++ >= receiver.later) receiver.finish(id)
    return job.done ? { status: 200, body: { status: 'done' } } : { status: 202, body: { reference: `job-${id}` } }
  }

  const server = createServer(async (request, reply) => {
    const body = await text(request)
    const headers = request.headers as Record<string, string>
    try {
      new Webhook(receiver.secret).verify(body, headers)
    } catch {
      receiver.refused += 1
      return reply.writeHead(401, { 'content-type': 'application/json' }).end('{"message":"the signature is wrong"}')
    }
    const { type, timestamp, data } = JSON.parse(body) as Pick<Received, 'type' | 'timestamp' | 'data'>
    const one: Received = { id: headers['webhook-id'] ?? '', type, timestamp, data, headers: request.headers }
    received.push(one)
    const answer = await receiver.behave(one, () => usual(one))
    if (answer === undefined) return undefined
    const contentType = { 'content-type': answer.text === undefined ? 'application/json' : 'text/html' }
    return reply
      .writeHead(answer.status, { ...contentType, ...answer.headers })
      .end(answer.text ?? JSON.stringify(answer.body ?? {}))
  })
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done)
  })
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/access`
  return receiver
}

export type TestReceiver = Awaited<ReturnType<typeof startReceiver>>

/** A result, signed as the library signs it, with the matching headers. */
export function signedResult(
  key: string,
  data: Record<string, unknown>,
  { at = new Date(), id = 'result-1', type = 'access.result' } = {},
) {
  const body = JSON.stringify({ type, data })
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const signature = new Webhook(key).sign(id, at, body)
  return { body, headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } }
}
