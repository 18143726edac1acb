import type { Operation, Violation } from './history.ts'
import { type SeenGrant, type SeenRequest, seenIn } from './seen.ts'

/** One record in one answer. */
type Sighting<Record> = { operation: Operation; record: Record }

/** The rules about fields, each with the answers that break it. They compare what the search for an order leaves out. */
export function fieldViolations(operations: readonly Operation[]): Violation[] {
  const compared = operations.filter(({ isSetup }) => !isSetup)
  const seen = compared.map((operation) => ({ operation, ...seenIn(operation) }))
  const sighted = <Record>(pick: (one: (typeof seen)[number]) => Record[]) =>
    seen.flatMap((one) => pick(one).map((record) => ({ operation: one.operation, record })))
  const requests = Map.groupBy(
    sighted(({ requests: all }) => all),
    ({ record }) => record.id,
  )
  const grants = Map.groupBy(
    sighted(({ grants: all }) => all),
    ({ record }) => record.id,
  )
  return [
    ...operations.flatMap(internalErrors),
    ...[...requests.values()].flatMap((one) => [...neverBack('request', one), ...oneTag(one)]),
    ...[...grants.values()].flatMap((one) => [
      ...neverBack('grant', one),
      ...['expires_at', 'activated_at'].flatMap((name) => setOnce(one, name as 'expires_at' | 'activated_at')),
      ...one.flatMap(wrongEnd),
      ...durations(one, requests, operations),
      ...extensionEnds(one, grants),
    ]),
    ...oneGrantEach([...grants.values()].flat()),
  ]
}

function internalErrors(operation: Operation): Violation[] {
  if (operation.answer?.status !== 500) return []
  return [{ rule: 'no internal error', what: 'the answer is 500', operations: [operation] }]
}

const isBefore = (one: Operation, other: Operation) => one.ended < other.began
const inTime = (one: Operation, other: Operation) => (one.began < other.began ? [one, other] : [other, one])

/** The first two sightings, in time, that the rule finds to contradict each other. */
function firstPair<Record>(
  sightings: readonly Sighting<Record>[],
  contradicts: (one: Sighting<Record>, other: Sighting<Record>) => string | undefined,
): { what: string; operations: Operation[] }[] {
  for (const [nth, other] of sightings.entries()) {
    for (const one of sightings.slice(0, nth)) {
      const what = contradicts(one, other) ?? contradicts(other, one)
      if (what !== undefined) return [{ what, operations: inTime(one.operation, other.operation) }]
    }
  }
  return []
}

type Versioned = { id: string; updated_at?: string }

function neverBack(kind: string, sightings: readonly Sighting<Versioned>[]): Violation[] {
  const dated = sightings.filter(({ record }) => record.updated_at !== undefined)
  const pairs = firstPair(dated, (one, other) => {
    const [earlier = '', later = ''] = [one.record.updated_at, other.record.updated_at]
    if (!isBefore(one.operation, other.operation) || Date.parse(earlier) <= Date.parse(later)) return undefined
    return `\`updated_at\` of the ${kind} ${one.record.id} went back from ${earlier} to ${later}`
  })
  return pairs.map((pair) => ({ rule: 'versions go forward', ...pair }))
}

/** Each version of a request has one tag, and each tag one version: so a tag that is gone never returns. */
function oneTag(sightings: readonly Sighting<SeenRequest>[]): Violation[] {
  const tagged = sightings.filter(({ record }) => record.tag !== undefined && record.updated_at !== undefined)
  const pairs = firstPair(tagged, ({ record: one }, { record: other }) => {
    if ((one.tag === other.tag) === (one.updated_at === other.updated_at && one.status === other.status))
      return undefined
    const same = one.tag === other.tag ? 'two versions and one tag' : 'one version and two tags'
    return `the request ${one.id} has ${same}: ${one.updated_at}, ${one.tag}; ${other.updated_at}, ${other.tag}`
  })
  return pairs.map((pair) => ({ rule: 'a tag never returns', ...pair }))
}

/** Absent, then one value for good. Nothing moves the end of a grant: what makes access last longer is another grant. */
function setOnce(sightings: readonly Sighting<SeenGrant>[], name: 'expires_at' | 'activated_at'): Violation[] {
  const pairs = firstPair(sightings, (one, other) => {
    const [first, second] = [one.record[name], other.record[name]]
    if (first === undefined || first === second) return undefined
    if (second === undefined && !isBefore(one.operation, other.operation)) return undefined
    return `\`${name}\` of the grant ${one.record.id} is ${first}, and ${second ?? 'absent'}`
  })
  return pairs.map((pair) => ({ rule: 'a moment is set once', ...pair }))
}

function wrongEnd({ operation, record }: Sighting<SeenGrant>): Violation[] {
  const { id, status, expires_at, ended_at } = record
  if (status !== 'expired' || ended_at === undefined || expires_at === undefined) return []
  if (Date.parse(ended_at) >= Date.parse(expires_at)) return []
  const what = `the grant ${id} expired at ${ended_at}, before its end, ${expires_at}`
  return [{ rule: 'no access expires before its end', what, operations: [operation] }]
}

/** A grant lasts as long as its approver gave, or else as its request asked for. */
function durations(
  sightings: readonly Sighting<SeenGrant>[],
  requests: ReadonlyMap<string, readonly Sighting<SeenRequest>[]>,
  operations: readonly Operation[],
): Violation[] {
  const [one] = sightings.filter(({ record }) => record.duration_seconds !== undefined)
  if (one === undefined) return []
  const { id, request_id, duration_seconds } = one.record
  const approval = operations.find(
    ({ call, answer }) => call.name === 'approve' && call.request === request_id && answer?.status === 200,
  )
  const request = requests.get(request_id)?.find(({ record }) => record.duration_seconds !== undefined)
  const narrowed = approval?.call.name === 'approve' ? approval.call.seconds : undefined
  // Without the answer of the approval it may be any that was asked for.
  if (request === undefined || narrowed === undefined) return []
  const given = narrowed ?? request.record.duration_seconds
  if (given === duration_seconds) return []
  const what = `the grant ${id} is for ${duration_seconds} s, and ${given} s were given`
  return [
    { rule: 'a grant lasts as long as was given', what, operations: [approval ?? request.operation, one.operation] },
  ]
}

/** An extension ends as long after the end of what it extends as was given. */
function extensionEnds(
  sightings: readonly Sighting<SeenGrant>[],
  grants: ReadonlyMap<string, readonly Sighting<SeenGrant>[]>,
): Violation[] {
  const ending = sightings.find(
    ({ record }) => record.expires_at !== undefined && record.duration_seconds !== undefined,
  )
  if (ending === undefined) return []
  const { id, expires_at = '', activated_at = '', duration_seconds = 0 } = ending.record
  const former = sightings.find(({ record }) => typeof record.extends === 'string')?.record.extends
  const extended = grants.get(former ?? '')?.find(({ record }) => record.expires_at !== undefined)
  const isKnown = sightings.some(({ record }) => record.extends !== undefined)
  const begins = former ? extended?.record.expires_at : activated_at
  if (!isKnown || begins === undefined) return []
  const lasts = Date.parse(expires_at) - Date.parse(begins)
  // The answers are in milliseconds, the database counts microseconds.
  if (Math.abs(lasts - duration_seconds * 1_000) <= 1) return []
  const what = `the grant ${id} lasts from ${begins} until ${expires_at}, and ${duration_seconds} s were given`
  const operations = former && extended ? inTime(extended.operation, ending.operation) : [ending.operation]
  return [{ rule: 'a grant ends in time', what, operations }]
}

/** The requests of these histories are for one place each. */
function oneGrantEach(sightings: readonly Sighting<SeenGrant>[]): Violation[] {
  const byRequest = Map.groupBy(sightings, ({ record }) => record.request_id)
  return [...byRequest.values()].flatMap((all) =>
    firstPair(all, ({ record: one }, { record: other }) =>
      one.id === other.id ? undefined : `the request ${one.request_id} has the grants ${one.id} and ${other.id}`,
    ).map((pair) => ({ rule: 'one approval, one grant', ...pair })),
  )
}
