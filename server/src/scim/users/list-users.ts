import { type ScimAnswer, type ScimCtx, scimOperation } from '../../http/scim-operation.ts'
import { isObject } from '../../kernel/is-object.ts'
import { userKind } from '../attribute.ts'
import { listResponse, readListRequest } from '../list-request.ts'
import { listUserResources } from './user-page.flow.ts'

/** Lists the users of the directory. */
export const listUsers = scimOperation({
  method: 'GET',
  path: '/Users',
  run: (ctx, { query }) => answer(ctx, query),
})

/** The same by a body, for a filter that must not be in an address. */
export const searchUsers = scimOperation({
  method: 'POST',
  path: '/Users/.search',
  run: (ctx, { body }) => answer(ctx, isObject(body) ? body : {}),
})

async function answer(ctx: ScimCtx, query: Readonly<Record<string, unknown>>): Promise<ScimAnswer> {
  const request = readListRequest(userKind, query)
  return { status: 200, body: listResponse(await listUserResources(ctx, request), request.start) }
}
