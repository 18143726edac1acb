import { type Static, Type } from 'typebox'
import { createdRange, readUsers, Search, SeveralOf, SeveralUsers, visibleUsers } from '../http/list-query.ts'
import { OneOf } from '../http/schema.ts'
import { invalidInput } from '../kernel/errors.ts'
import { askedTypes } from '../policy-engine/cedar/schema.ts'
import { requestStatuses } from './request.ts'

/** The filters of the list of requests, and of its count. */
export const requestFilters = {
  status: Type.Optional(SeveralOf(requestStatuses)),
  requester_id: Type.Optional(SeveralUsers),
  decided_by: Type.Optional({ ...SeveralUsers, description: 'who approved or denied it: ids of users, or `me`' }),
  resource_type: Type.Optional(SeveralOf(askedTypes)),
  resource_id: Type.Optional(Type.String({ maxLength: 2_048 })),
  break_glass: Type.Optional(Type.Boolean({ description: 'whether they were emergencies' })),
  decidable_by: DecidableBy('`me`: pending requests that you may decide now. Without `status`, `decided_by` and `q`'),
  ...createdRange,
  q: Search('the resource’s id, the action and the reason'),
}

export function DecidableBy(description: string) {
  return Type.Optional(OneOf(['me'], { description }))
}

const RequestQuery = Type.Object(requestFilters)
type RequestQuery = Static<typeof RequestQuery> & { sort?: 'created_at' | '-created_at' }

type People = 'requester_id' | 'decided_by'

/** From where requests are read, and by which filters. */
type Seen = {
  from: 'list' | 'inbox'
  filters: Omit<RequestQuery, 'decidable_by' | People> & { [filter in People]: string[] | undefined }
}

/**
 * Which of the requests in a query the caller sees; undefined: none.
 * @throws Problem 400 for parameters that contradict the inbox
 */
export function seenRequests(
  actor: { user_id: string | null; scopes: ReadonlySet<string> },
  query: RequestQuery,
): Seen | undefined {
  const requester_id = visibleUsers(actor, query.requester_id, 'requests:read')
  const decided_by = query.decided_by && readUsers(query.decided_by, actor.user_id)
  if (requester_id?.length === 0 || decided_by?.length === 0) return undefined
  const { decidable_by, ...filters } = { ...query, requester_id, decided_by }
  if (decidable_by === undefined) return { from: 'list', filters }
  requireAlone(query)
  // Without requests:read only one's own requests are seen, and these are never one's own to decide.
  return actor.scopes.has('requests:read') ? { from: 'inbox', filters } : undefined
}

/** @throws Problem 400 naming the parameters that would contradict the inbox and its order */
function requireAlone(query: RequestQuery): void {
  const given = (['status', 'decided_by', 'q', 'sort'] as const).filter((name) => query[name] !== undefined)
  if (given.length === 0) return
  const why = 'cannot be combined with `decidable_by`, whose requests are pending, in an order of their own'
  throw invalidInput(given.map((name) => ({ pointer: `/${name}`, why })))
}
