import { type ScimCtx, scimOperation } from '../../http/scim-operation.ts'
import { ScimProblem } from '../../http/scim-problem.ts'
import { isObject } from '../../kernel/is-object.ts'
import { groupKind, userKind } from '../attribute.ts'
import { listGroupResources } from '../groups/group-page.flow.ts'
import { type ListRequest, listResponse, readListRequest } from '../list-request.ts'
import type { Resource } from '../read-resource.ts'
import { listUserResources } from '../users/user-page.flow.ts'

/** Searches users and groups at once (RFC 7644, section 3.4.3): the users come first. */
export const searchAll = scimOperation({
  method: 'POST',
  path: '/.search',
  async run(ctx, { body }) {
    const query = isObject(body) ? body : {}
    const [ofUsers, ofGroups] = [userKind, groupKind].map((kind) => requestFor(kind, query))
    const { start, count } = ofUsers ?? ofGroups ?? readListRequest(userKind, query)
    const users = await page(ctx, ofUsers, listUserResources)
    const behind = Math.max(start - users.total, 1)
    const left = count - users.resources.length
    const groups = await page(ctx, ofGroups && { ...ofGroups, start: behind, count: left }, listGroupResources)
    const resources = [...users.resources, ...groups.resources]
    return { status: 200, body: listResponse({ total: users.total + groups.total, resources }, start) }
  },
})

/** Undefined where the filter is about attributes that the kind does not have: it has none to find. */
function requestFor(kind: typeof userKind, query: Record<string, unknown>): ListRequest | undefined {
  try {
    return readListRequest(kind, query)
  } catch (error) {
    if (error instanceof ScimProblem && error.scimType === 'invalidFilter') return undefined
    throw error
  }
}

type Page = { total: number; resources: readonly Resource[] }

async function page(
  ctx: ScimCtx,
  request: ListRequest | undefined,
  list: (ctx: ScimCtx, request: ListRequest) => Promise<Page>,
): Promise<Page> {
  return request === undefined ? { total: 0, resources: [] } : list(ctx, request)
}
