import { type ScimAnswer, type ScimCtx, scimOperation } from '../../http/scim-operation.ts'
import { isObject } from '../../kernel/is-object.ts'
import { groupKind } from '../attribute.ts'
import { listResponse, readListRequest } from '../list-request.ts'
import { listGroupResources } from './group-page.flow.ts'

/** Lists the groups of the directory, with their members unless the client leaves them out. */
export const listGroups = scimOperation({
  method: 'GET',
  path: '/Groups',
  run: (ctx, { query }) => answer(ctx, query),
})

/** The same by a body, for a filter that must not be in an address. */
export const searchGroups = scimOperation({
  method: 'POST',
  path: '/Groups/.search',
  run: (ctx, { body }) => answer(ctx, isObject(body) ? body : {}),
})

async function answer(ctx: ScimCtx, query: Readonly<Record<string, unknown>>): Promise<ScimAnswer> {
  const request = readListRequest(groupKind, query)
  return { status: 200, body: listResponse(await listGroupResources(ctx, request), request.start) }
}
