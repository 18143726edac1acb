import type { ServiceName } from './wire.ts'

/** One call, as it ended. `outcome`: `ok`, the error's name, or how its connection was cut. */
export type Entry = {
  at: number
  service: ServiceName | null
  operation: string
  input: Readonly<Record<string, unknown>>
  /** The ARN of whoever signed it. */
  by: string | null
  outcome: string
  request_id: string
}

/** A revoke that was put off for the target's pace, and the grants that were let in before it. */
export type Overtaken = { revoke: Entry; grants: Entry[] }

/** The account book: every call in the order in which they came, and what can be reckoned from that. */
export type Book = {
  entries: Entry[]
  /** The most acts that were in progress at once. */
  most_outstanding: number
  /** Grants that were asked for while the same one was there or under way. */
  needless_grants: number
}

export const openBook = (): Book => ({ entries: [], most_outstanding: 0, needless_grants: 0 })

/** The most calls that a service had within any one second. */
export function busiestSecond({ entries }: Book, service: ServiceName): number {
  const times = entries.filter((one) => one.service === service).map(({ at }) => at)
  let [most, first] = [0, 0]
  for (const [place, at] of times.entries()) {
    while (at - (times[first] ?? at) >= 1000) first++
    most = Math.max(most, place - first + 1)
  }
  return most
}

const forPace = new Set(['ThrottlingException', 'ConflictException'])

/** Each revoke that was refused for the target's pace and let grants by before it got in. */
export function overtakenRevokes({ entries }: Book): Overtaken[] {
  const found: Overtaken[] = []
  const waiting = new Map<string, Overtaken>()
  for (const entry of entries) {
    if (entry.operation === 'CreateAccountAssignment' && entry.outcome === 'ok')
      for (const revoke of waiting.values()) revoke.grants.push(entry)
    if (entry.operation !== 'DeleteAccountAssignment') continue
    const seat = JSON.stringify([entry.input.TargetId, entry.input.PermissionSetArn, entry.input.PrincipalId])
    if (forPace.has(entry.outcome) && !waiting.has(seat)) waiting.set(seat, { revoke: entry, grants: [] })
    const waited = waiting.get(seat)
    if (entry.outcome !== 'ok' || waited === undefined) continue
    waiting.delete(seat)
    if (waited.grants.length > 0) found.push(waited)
  }
  return found
}
