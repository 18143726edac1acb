import { setTimeout as pause } from 'node:timers/promises'
import type { Company } from '../kill/company.ts'
import type { Fault } from '../kill/consistency.ts'

/** Calls that are sent again with the same `Idempotency-Key` until they succeed, whatever was answered before. */
export type RepeatedCalls = {
  /** The group that each call was answered with, by its name, which no other call has. */
  answered: Map<string, string>
  /** How often a call was sent again. */
  repeats: number
  done: Promise<unknown>
}

let lastCall = 0

/** So many callers at a time, so that a failover meets some of them before their answer. */
const callers = 3

/** Makes one group after another until they are `over`, as a script does that must not make one twice. */
export function repeatCalls(company: Company, over: () => boolean): RepeatedCalls {
  const calls: RepeatedCalls = { answered: new Map(), repeats: 0, done: Promise.resolve() }
  const caller = async () => {
    while (!over()) await makeOnce(company, calls)
  }
  calls.done = Promise.all(Array.from({ length: callers }, caller))
  return calls
}

async function makeOnce({ owning }: Company, calls: RepeatedCalls): Promise<void> {
  lastCall += 1
  const name = `group ${lastCall}`
  const headers = { 'idempotency-key': name.replace(' ', '-') }
  for (;;) {
    const reply = await owning('POST', '/v1/groups', { name }, headers)
    if (reply.status === 201) {
      calls.answered.set(name, String(reply.body.id))
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

/** A group that was made twice, or whose answer names another. */
export async function findRepeated({ query, tenant_id }: Company, { answered }: RepeatedCalls): Promise<Fault[]> {
  const rows = await query<{ name: string; ids: string[] }>(
    'select name, array_agg(id::text) as ids from tenant_group where tenant_id = $1 and name = any ($2) group by name',
    [tenant_id, [...answered.keys()]],
  )
  const ids = new Map(rows.map((row) => [row.name, row.ids]))
  return [...answered].flatMap(([name, id]): Fault[] => {
    const made = ids.get(name) ?? []
    if (made.length > 1) return [{ kind: 'doubled', what: `${made.length} times ${name}` }]
    return made[0] === id
      ? []
      : [{ kind: 'lost', what: `${name} was answered with ${id}, and is ${made[0] ?? 'lost'}` }]
  })
}
