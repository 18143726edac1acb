import { endAccessAndInvitations } from './app.ts'
import type { ScimOperation } from './http/scim-operation.ts'
import {
  getResourceType,
  getSchema,
  getServiceProviderConfig,
  listResourceTypes,
  listSchemas,
} from './scim/discovery.ts'
import { createGroup } from './scim/groups/create-group.ts'
import { deleteGroup } from './scim/groups/delete-group.ts'
import { getGroup } from './scim/groups/get-group.ts'
import { listGroups, searchGroups } from './scim/groups/list-groups.ts'
import { patchGroup } from './scim/groups/patch-group.ts'
import { replaceGroup } from './scim/groups/replace-group.ts'
import { searchAll } from './scim/search/search-all.ts'
import { createUser } from './scim/users/create-user.ts'
import { deleteUser } from './scim/users/delete-user.ts'
import { getUser } from './scim/users/get-user.ts'
import { listUsers, searchUsers } from './scim/users/list-users.ts'
import { patchUser } from './scim/users/patch-user.ts'
import { replaceUser } from './scim/users/replace-user.ts'

const parts = { endAccess: endAccessAndInvitations }

/** THE list: every endpoint below `/scim/v2/{id}`, by the name under which metrics and the log count it. */
export const scimOperations: Readonly<Record<string, ScimOperation>> = {
  scimGetServiceProviderConfig: getServiceProviderConfig,
  scimListResourceTypes: listResourceTypes,
  scimGetResourceType: getResourceType,
  scimListSchemas: listSchemas,
  scimGetSchema: getSchema,
  scimSearchAll: searchAll,
  scimCreateUser: createUser(parts),
  scimListUsers: listUsers,
  scimSearchUsers: searchUsers,
  scimGetUser: getUser,
  scimReplaceUser: replaceUser(parts),
  scimPatchUser: patchUser(parts),
  scimDeleteUser: deleteUser(parts),
  scimCreateGroup: createGroup,
  scimListGroups: listGroups,
  scimSearchGroups: searchGroups,
  scimGetGroup: getGroup,
  scimReplaceGroup: replaceGroup,
  scimPatchGroup: patchGroup,
  scimDeleteGroup: deleteGroup,
}
