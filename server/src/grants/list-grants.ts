import { Type } from 'typebox'
import {
  createdRange,
  readUsers,
  Search,
  SeveralOf,
  SeveralProvisioners,
  SeveralUsers,
  SortBy,
} from '../http/list-query.ts'
import { operation } from '../http/operation.ts'
import { DateTime, PageOf, pageQuery, Uuid } from '../http/schema.ts'
import { askedTypes } from '../policy-engine/cedar/schema.ts'
import { grantStatuses, NamedGrant, provisioningStatuses } from './grant.ts'
import { grantOrders, listGrantsPage } from './grant-list-store.ts'

export const listGrants = operation({
  method: 'GET',
  path: '/v1/grants',
  summary: 'List grants, newest first: your own, or all grants with grants:read',
  credential: 'any',
  scope: null,
  query: Type.Object(
    {
      ...pageQuery,
      user_id: Type.Optional(SeveralUsers),
      request_id: Type.Optional(Uuid),
      status: Type.Optional(SeveralOf(grantStatuses)),
      provisioning_status: Type.Optional(SeveralOf(provisioningStatuses)),
      resource_type: Type.Optional(SeveralOf(askedTypes)),
      resource_id: Type.Optional(Type.String({ maxLength: 2_048 })),
      action: Type.Optional(Type.String({ maxLength: 2_048 })),
      provisioner_id: Type.Optional(SeveralProvisioners),
      drifted: Type.Optional(
        Type.Boolean({ description: 'whether they are active and their access was removed by hand' }),
      ),
      ends_before: Type.Optional(
        Type.String({
          ...DateTime,
          description:
            'active grants that end before this moment; those that end first come first, unless `sort` is given',
        }),
      ),
      ...createdRange,
      q: Search('the resource’s id and the action'),
      sort: SortBy(grantOrders, '-created_at', '; with `expires_at`, the list has active grants alone'),
    },
    { additionalProperties: false },
  ),
  replies: { 200: PageOf(NamedGrant) },
  errors: [],
  async run(ctx, { query, page }) {
    const user_id = visibleHolders(ctx.actor, query.user_id)
    if (user_id?.length === 0) return page.reply({ rows: [], next: undefined })
    return page.reply(await listGrantsPage(ctx.tx, { ...query, user_id }, page))
  },
})

/** The users whose grants are listed; undefined: all. Without grants:read only the caller, if they are named or nobody is. */
function visibleHolders(
  { user_id, scopes }: { user_id: string | null; scopes: ReadonlySet<string> },
  named: readonly string[] | undefined,
): string[] | undefined {
  const asked = named === undefined ? undefined : [...new Set(readUsers(named, user_id))]
  if (scopes.has('grants:read')) return asked
  return [user_id ?? []].flat().filter((own) => asked === undefined || asked.includes(own))
}
