import type { ScimCtx } from '../../http/scim-operation.ts'
import type { ListRequest } from '../list-request.ts'
import type { Resource } from '../read-resource.ts'
import { shownUser } from './shown-user.ts'
import { listDirectoryUsers } from './user-list-store.ts'

/** A page of the users as answers show them. */
export async function listUserResources(
  ctx: ScimCtx,
  request: ListRequest,
): Promise<{ total: number; resources: Resource[] }> {
  const { total, users } = await listDirectoryUsers(ctx, request)
  return { total, resources: users.map((user) => shownUser(ctx, user, request.selection)) }
}
