import { setTimeout as pause } from 'node:timers/promises'
import type { Query } from '../kill/acknowledged.ts'
import type { Company } from '../kill/company.ts'
import type { Fault } from '../kill/consistency.ts'
import { askerOf } from './timed-ends.ts'

/** Calls that are sent again with the same `Idempotency-Key` until they succeed, whatever was answered before. */
export type RepeatedCalls = {
  /** The request that each call was answered with, by its reason, which no other request has. */
  answered: Map<string, string>
  /** How often a call was sent again. */
  repeats: number
  done: Promise<unknown>
}

let lastCall = 0

/** So many callers at a time, so that a failover meets some of them before their answer. */
const callers = 3

/** Requests one thing after another until they are `over`, as a script does that must not ask twice. */
export function repeatCalls(company: Company, over: () => boolean): RepeatedCalls {
  const calls: RepeatedCalls = { answered: new Map(), repeats: 0, done: Promise.resolve() }
  const caller = async () => {
    while (!over()) await requestOnce(company, calls)
  }
  calls.done = Promise.all(Array.from({ length: callers }, caller))
  return calls
}

async function requestOnce(company: Company, calls: RepeatedCalls): Promise<void> {
  const call = askerOf(company)
  lastCall += 1
  const reason = `call ${lastCall} that is sent again`
  const body = { ...company.target.place('require'), duration_seconds: 3_600, reason }
  const headers = { 'idempotency-key': reason.replaceAll(' ', '-') }
  for (;;) {
    const reply = await call('POST', '/v1/requests', body, headers)
    if (reply.status === 201) {
      calls.answered.set(reason, String(reply.body.id))
      break
    }
    // Not given up before an answer: a call that was not answered may have been carried out.
    const isToRepeat = reply.status === 503 || reply.body.code === 'idempotency_in_progress'
    if (!isToRepeat)
      throw new Error(`a call that was sent again was answered with ${reply.status}: ${JSON.stringify(reply.body)}`)
    calls.repeats += 1
    await pause(100)
  }
  await pause(150)
}

/** A request that was carried out twice, or whose answer names another. */
export async function findRepeated(query: Query, { answered }: RepeatedCalls): Promise<Fault[]> {
  const rows = await query<{ reason: string; ids: string[] }>(
    'select reason, array_agg(id::text) as ids from access_request where reason = any ($1) group by reason',
    [[...answered.keys()]],
  )
  const ids = new Map(rows.map((row) => [row.reason, row.ids]))
  return [...answered].flatMap(([reason, id]): Fault[] => {
    const made = ids.get(reason) ?? []
    if (made.length > 1) return [{ kind: 'doubled', what: `${made.length} requests for ${reason}` }]
    return made[0] === id ? [] : [{ kind: 'lost', what: `${reason} was answered with ${id}, and made ${made[0]}` }]
  })
}
