import { Type } from 'typebox'
import { createdRange, readUsers, Search, SeveralOf, SeveralUsers, SortBy } from '../http/list-query.ts'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { askedTypes } from '../policy-engine/cedar/schema.ts'
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
    if (requester_id?.length === 0) return page.reply({ rows: [], next: undefined })
    return page.reply(await listRequestsPage(ctx.tx, { ...query, requester_id }, page))
  },
})

/** The users whose requests are listed; undefined: all. Without requests:read only the caller, if they are named or nobody is. */
function visibleRequesters(
  { user_id, scopes }: { user_id: string | null; scopes: ReadonlySet<string> },
  named: readonly string[] | undefined,
): string[] | undefined {
  const asked = named === undefined ? undefined : [...new Set(readUsers(named, user_id))]
  if (scopes.has('requests:read')) return asked
  return [user_id ?? []].flat().filter((own) => asked === undefined || asked.includes(own))
}
