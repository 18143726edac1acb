import { Type } from 'typebox'
import { createdRange, readUsers, Search, SeveralOf, SeveralUsers, SortBy } from '../http/list-query.ts'
import { operation } from '../http/operation.ts'
import { OneOf, PageOf, pageQuery } from '../http/schema.ts'
import { invalidInput } from '../kernel/errors.ts'
import { askedTypes } from '../policy-engine/cedar/schema.ts'
import { listDecidable } from './inbox.flow.ts'
import { NamedAccessRequest, requestStatuses } from './request.ts'
import { listRequestsPage } from './request-list-store.ts'

export const listRequests = operation({
  method: 'GET',
  path: '/v1/requests',
  summary: 'List requests, newest first: your own, or all users’ with requests:read',
  credential: 'any',
  scope: null,
  query: Type.Object(
    {
      ...pageQuery,
      status: Type.Optional(SeveralOf(requestStatuses)),
      requester_id: Type.Optional(SeveralUsers),
      resource_type: Type.Optional(SeveralOf(askedTypes)),
      resource_id: Type.Optional(Type.String({ maxLength: 2_048 })),
      break_glass: Type.Optional(Type.Boolean({ description: 'whether they were emergencies' })),
      decidable_by: Type.Optional(
        OneOf(['me'], {
          description:
            '`me`: pending requests that you may decide now, those with a high risk first, then the oldest; a page may be short, ' +
            'or empty, though more follow. Without `status`, `q` and `sort`',
        }),
      ),
      ...createdRange,
      q: Search('the resource’s id, the action and the reason'),
      sort: SortBy(['created_at', '-created_at'], '-created_at'),
    },
    { additionalProperties: false },
  ),
  replies: { 200: PageOf(NamedAccessRequest) },
  errors: [],
  async run(ctx, { query, page }) {
    const requester_id = visibleRequesters(ctx.actor, query.requester_id)
    if (requester_id?.length === 0) return page.reply(nothing)
    const { decidable_by, ...filters } = { ...query, requester_id }
    if (decidable_by === undefined) return page.reply(await listRequestsPage(ctx.tx, filters, page))
    requireAlone(query)
    // Without requests:read only one's own requests are seen, and these are never one's own to decide.
    return page.reply(ctx.actor.scopes.has('requests:read') ? await listDecidable(ctx, filters, page) : nothing)
  },
})

const nothing = { rows: [], next: undefined }

/** @throws Problem 400 naming the parameters that would contradict the inbox and its order */
function requireAlone(query: { status?: unknown; q?: unknown; sort?: unknown }): void {
  const given = (['status', 'q', 'sort'] as const).filter((name) => query[name] !== undefined)
  if (given.length === 0) return
  const why = 'cannot be combined with `decidable_by`, whose requests are pending, in an order of their own'
  throw invalidInput(given.map((name) => ({ pointer: `/${name}`, why })))
}

/** The users whose requests are listed; undefined: all. Without requests:read only the caller, if they are named or nobody is. */
function visibleRequesters(
  { user_id, scopes }: { user_id: string | null; scopes: ReadonlySet<string> },
  named: readonly string[] | undefined,
): string[] | undefined {
  const asked = named === undefined ? undefined : [...new Set(readUsers(named, user_id))]
  if (scopes.has('requests:read')) return asked
  return user_id !== null && (asked?.includes(user_id) ?? true) ? [user_id] : []
}
