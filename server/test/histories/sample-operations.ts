import type { Answer, Call, Operation } from './history.ts'

/** Short forms of operations, for tables of histories. A moment is a pair: begin and end. */
type Moment = readonly [began: number, ended: number]

const r = 'r'
const g = 'g'

function operation(
  [began, ended]: Moment,
  caller: string,
  call: Call,
  answer?: { status: number; body?: Record<string, unknown>; tag?: string },
): Operation {
  const isKnown = answer !== undefined && answer.status < 500
  const full: Answer | undefined = answer && { body: {}, tag: null, ...answer }
  const who = { id: caller, name: caller }
  return {
    ...{ nth: 0, caller: who, process: 0, began, ended: isKnown ? ended : Number.POSITIVE_INFINITY },
    ...{ call, answer: full, isSetup: false },
  }
}

/** What a request shows. */
export function request(status: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { id: r, requester_id: 'ada', status, decided_by: null, extends: null, duration_seconds: 3_600, ...more }
}

/** What a grant shows. */
export function grant(status: string, step: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  const own = { id: g, request_id: r, user_id: 'ada', ended_by: null, extends: null, extended_by: null }
  return { ...own, status, provisioning_status: step, duration_seconds: 3_600, ...more }
}

const list = (data: Record<string, unknown>[]) => ({ status: 200, body: { data, has_more: false } })
const refused = (code: string, details: object = {}) => ({ status: 409, body: { code, details } })

/** Ada requests and holds, Ben and Cyd decide. */
export const ops = {
  create: (at: Moment, status = 'pending', id = r) =>
    operation(
      at,
      'ada',
      { name: 'create', mode: status === 'pending' ? 'require' : 'auto' },
      {
        ...{ status: 201, body: request(status, { id }) },
      },
    ),
  approve: (at: Moment, by: string, id = r, seconds: number | null = null) =>
    operation(
      at,
      by,
      { name: 'approve', request: id, seconds },
      { status: 200, body: request('approved', { id, decided_by: by }) },
    ),
  deny: (at: Moment, by: string) =>
    operation(at, by, { name: 'deny', request: r }, { status: 200, body: request('denied', { decided_by: by }) }),
  cancel: (at: Moment) => operation(at, 'ada', { name: 'cancel', request: r }, { status: 204 }),
  approveRefused: (at: Moment, by: string, status: string, decided_by?: string) =>
    operation(
      at,
      by,
      { name: 'approve', request: r, seconds: null },
      refused('request_not_pending', { status, decided_by }),
    ),
  cancelRefused: (at: Moment, status: string, decided_by?: string) =>
    operation(at, 'ada', { name: 'cancel', request: r }, refused('request_not_cancellable', { status, decided_by })),
  /** `status`: of the answer that says nothing; undefined: there was none. */
  lost: (at: Moment, by: string, call: Call, status?: number) =>
    operation(at, by, call, status === undefined ? undefined : { status }),
  read: (at: Moment, status: string, more: Record<string, unknown> = {}, tag?: string) =>
    operation(
      at,
      'ada',
      { name: 'read request', request: String(more.id ?? r) },
      {
        ...{ status: 200, body: request(status, more), ...(tag !== undefined && { tag }) },
      },
    ),
  notFound: (at: Moment) => operation(at, 'ada', { name: 'read request', request: r }, { status: 404 }),
  events: (at: Moment, ...types: string[]) =>
    operation(
      at,
      'ada',
      { name: 'read its events', request: r },
      list(types.map((type) => ({ type: `request.${type}` }))),
    ),
  grantEvents: (at: Moment, ...types: string[]) =>
    operation(
      at,
      'ada',
      { name: 'read grant events', grant: g },
      list(types.map((type) => ({ type: `grant.${type}` }))),
    ),
  view: (at: Moment, status: string, ...grants: Record<string, unknown>[]) =>
    operation(at, 'ada', { name: 'read status', request: r }, { status: 200, body: { id: r, status, grants } }),
  readGrant: (at: Moment, status: string, step: string, more: Record<string, unknown> = {}) =>
    operation(
      at,
      'ada',
      { name: 'read grant', grant: String(more.id ?? g) },
      { status: 200, body: grant(status, step, more) },
    ),
  ownGrants: (at: Moment, status: string | null, ...grants: Record<string, unknown>[]) =>
    operation(at, 'ada', { name: 'list own grants', status }, list(grants)),
  itsGrants: (at: Moment, ...grants: Record<string, unknown>[]) =>
    operation(at, 'ada', { name: 'list its grants', request: r }, list(grants)),
  ownRequests: (at: Moment, status: string | null, ...requests: Record<string, unknown>[]) =>
    operation(at, 'ada', { name: 'list own requests', status }, list(requests)),
  revoke: (at: Moment, by: string, step: string) =>
    operation(at, by, { name: 'revoke', grant: g }, { status: 200, body: grant('revoked', step, { ended_by: by }) }),
  revokeRefused: (at: Moment, status: string) =>
    operation(at, 'ada', { name: 'revoke', grant: g }, refused('grant_not_live', { status })),
  retry: (at: Moment) =>
    operation(at, 'ada', { name: 'retry', grant: g }, { status: 200, body: grant('pending', 'not_attempted') }),
  extend: (at: Moment, id: string, status = 'pending') =>
    operation(at, 'ada', { name: 'extend', grant: g }, { status: 201, body: request(status, { id, extends: g }) }),
  extendRefused: (at: Moment, request_id: string) =>
    operation(at, 'ada', { name: 'extend', grant: g }, refused('already_extended', { request_id })),
}

/** A request of Ada's that waits for a decision. */
export const made = ops.create([0, 1])

/** One that a rule approved, with access. */
export const given = [ops.create([0, 1], 'approved'), ops.itsGrants([2, 3], grant('active', 'successful'))]

export const approving = { name: 'approve', request: r, seconds: null } as const
