import { userKind } from '../attribute.ts'
import type { DirectoryCtx } from '../directory.ts'
import { type ListRequest, listResponse, readListRequest } from '../list-request.ts'
import { isObject, type Resource } from '../read-resource.ts'
import type { ScimAnswer, ScimOperation } from '../scim-operation.ts'
import { shownUser } from './shown-user.ts'
import { listDirectoryUsers } from './user-list-store.ts'

/** Lists the users of the directory. */
export const listUsers: ScimOperation = {
  method: 'GET',
  path: '/Users',
  run: (ctx, { query }) => answer(ctx, query),
}

/** The same by a body, for a filter that must not be in an address. */
export const searchUsers: ScimOperation = {
  method: 'POST',
  path: '/Users/.search',
  run: (ctx, { body }) => answer(ctx, isObject(body) ? body : {}),
}

async function answer(ctx: DirectoryCtx, query: Readonly<Record<string, unknown>>): Promise<ScimAnswer> {
  const request = readListRequest(userKind, query)
  return { status: 200, body: listResponse(await listUserResources(ctx, request), request.start) }
}

/** A page of the users as answers show them. */
export async function listUserResources(
  ctx: DirectoryCtx,
  request: ListRequest,
): Promise<{ total: number; resources: Resource[] }> {
  const { total, users } = await listDirectoryUsers(ctx, request)
  return { total, resources: users.map((user) => shownUser(ctx, user, request.selection)) }
}
