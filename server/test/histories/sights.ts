import type { Operation } from './history.ts'
import { type SeenGrant, type SeenRequest, seenIn } from './seen.ts'

/**
 * What an answer says about the state of one object at some moment of its call: one of these statuses, or none of those. `by` and
 * `step` as in `ObjectState`; undefined: it does not say.
 */
export type Sight = {
  object: string
  is?: readonly string[]
  not?: readonly string[]
  by?: string | null
  step?: string
}

/** What a whole list says about the objects of its owner, or of one request, that it does not have. */
export type Missing = {
  kind: 'request' | 'grant'
  owner?: string
  request?: string
  /** The status that the list was filtered by; null: all. */
  status: string | null
  listed: readonly string[]
}

export type Sights = { sights: readonly Sight[]; missing?: Missing }

/** What an answer says about states. A refusal says something too: what refused it. */
export function sightsOf(operation: Operation): Sights {
  const { answer, call } = operation
  if (answer === undefined || answer.status >= 500) return { sights: [] }
  if (answer.status >= 400) return { sights: refusalSights(operation) }
  const { requests, grants } = seenIn(operation)
  const sights = [...requests.map(sightOfRequest), ...grants.flatMap(sightsOfGrant)]
  const missing = missingFrom(operation, [...requests, ...grants])
  if (call.name === 'cancel') return { sights: [{ object: call.request, is: ['cancelled'] }] }
  if (call.name === 'read its events') return { sights: [sightOfEvents(call.request, answer.body)] }
  if (call.name === 'read grant events') return { sights: sightsOfGrantEvents(call.grant, answer.body) }
  if (call.name === 'read status' && grants.length === 0) sights.push({ object: call.request, not: ['approved'] })
  if (call.name === 'list its grants' && grants.length === 0) sights.push({ object: call.request, not: ['approved'] })
  return missing === undefined ? { sights } : { sights, missing }
}

function sightOfRequest({ id, status, decided_by }: SeenRequest): Sight {
  return { object: id, is: [status], ...(decided_by !== undefined && { by: decided_by }) }
}

/** That there is a grant says already that its request is approved: only an approval makes one. */
function sightsOfGrant(grant: SeenGrant): Sight[] {
  const { id, status, provisioning_status: step, ended_by, extended_by } = grant
  const own = { object: id, is: [status], step, ...(ended_by !== undefined && { by: ended_by }) }
  if (extended_by === undefined || extended_by === null) return [own]
  return [own, { object: extended_by.request_id, is: [extended_by.status] }]
}

const ends = ['approved', 'denied', 'cancelled', 'expired'] as const

function sightOfEvents(object: string, body: Record<string, unknown>): Sight {
  const types = typesIn(body)
  const end = ends.filter((status) => types.includes(`request.${status}`))
  if (end.length > 0) return { object, is: end.length === 1 ? end : [] }
  return { object, is: types.includes('request.created') ? ['pending'] : ['absent'] }
}

/** A grant that failed may have failed before, and a revoked one may never have been active. */
function sightsOfGrantEvents(object: string, body: Record<string, unknown>): Sight[] {
  const types = typesIn(body)
  const wasActive = types.includes('grant.activated')
  return [
    ...(['revoked', 'expired'] as const).map((status) =>
      types.includes(`grant.${status}`) ? { object, is: [status] } : { object, not: [status] },
    ),
    { object, not: wasActive ? ['absent', 'pending', 'failed'] : ['active', 'expired'] },
  ]
}

const typesIn = (body: Record<string, unknown>) => (body as { data: { type: string }[] }).data.map(({ type }) => type)

function refusalSights({ call, answer }: Operation): Sight[] {
  const {
    status,
    code,
    details = {},
  } = { status: answer?.status, ...answer?.body } as {
    status?: number
    code?: string
    details?: { status?: string; decided_by?: string; request_id?: string }
  }
  if ('request' in call) {
    if (status === 404) return [{ object: call.request, is: ['absent'] }]
    if (code !== 'request_not_pending' && code !== 'request_not_cancellable') return []
    return [{ object: call.request, is: [details.status ?? ''], by: details.decided_by ?? null }]
  }
  if (!('grant' in call)) return []
  if (status === 404) return [{ object: call.grant, is: ['absent'] }]
  if (code === 'already_extended') return [{ object: details.request_id ?? '', is: ['pending', 'approved'] }]
  if (code !== 'grant_not_live' && code !== 'grant_not_retryable') return []
  return [{ object: call.grant, is: [details.status ?? ''] }]
}

function missingFrom({ call, caller, answer }: Operation, rows: readonly { id: string }[]): Missing | undefined {
  if (answer?.body.has_more !== false) return undefined
  const listed = rows.map(({ id }) => id)
  if (call.name === 'list its grants') return { kind: 'grant', request: call.request, status: null, listed }
  if (call.name === 'list own grants') return { kind: 'grant', owner: caller.id, status: call.status, listed }
  if (call.name === 'list own requests') return { kind: 'request', owner: caller.id, status: call.status, listed }
  return undefined
}
