import type { ServiceName } from './wire.ts'

/** One call, as it ended. `outcome`: `ok`, the error's name, or how its connection was cut. */
export type Entry = {
  at: number
  service: ServiceName | null
  operation: string
  input: Readonly<Record<string, unknown>>
  /** The ARN of the caller who signed it. */
  by: string | null
  outcome: string
  request_id: string
}

/** A revoke that was refused by a rate limit, and the grants that were accepted before it. */
export type Overtaken = { revoke: Entry; grants: Entry[] }

/** The call log: every call in order of arrival, and figures derived from the calls. */
export type CallLog = {
  entries: Entry[]
  /** The maximum number of acts in progress at once. */
  max_outstanding: number
  /** Grants that were requested while the same one existed or was in progress. */
  needless_grants: number
}

export const openCallLog = (): CallLog => ({ entries: [], max_outstanding: 0, needless_grants: 0 })

/** The maximum number of calls that a service received within one second. */
export function busiestSecond({ entries }: CallLog, service: ServiceName): number {
  const times = entries.filter((one) => one.service === service).map(({ at }) => at)
  let [most, first] = [0, 0]
  for (const [place, at] of times.entries()) {
    while (at - (times[first] ?? at) >= 1000) first++
    most = Math.max(most, place - first + 1)
  }
  return most
}

const throttlings = new Set(['ThrottlingException', 'ConflictException'])

/** Each revoke that was refused by a rate limit, if grants were accepted before its retry succeeded. */
export function overtakenRevokes({ entries }: CallLog): Overtaken[] {
  const found: Overtaken[] = []
  const waiting = new Map<string, Overtaken>()
  for (const entry of entries) {
    if (entry.operation === 'CreateAccountAssignment' && entry.outcome === 'ok')
      for (const revoke of waiting.values()) revoke.grants.push(entry)
    if (entry.operation !== 'DeleteAccountAssignment') continue
    const seat = JSON.stringify([entry.input.TargetId, entry.input.PermissionSetArn, entry.input.PrincipalId])
    if (throttlings.has(entry.outcome) && !waiting.has(seat)) waiting.set(seat, { revoke: entry, grants: [] })
    const waited = waiting.get(seat)
    if (entry.outcome !== 'ok' || waited === undefined) continue
    waiting.delete(seat)
    if (waited.grants.length > 0) found.push(waited)
  }
  return found
}
