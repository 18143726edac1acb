import { createApiKey } from './api-keys/create-api-key.ts'
import { listApiKeys } from './api-keys/list-api-keys.ts'
import { revokeApiKey } from './api-keys/revoke-api-key.ts'
import { endAccessAndInvitations } from './app.ts'
import { addGroupMember } from './groups/add-group-member.ts'
import { createGroup } from './groups/create-group.ts'
import { deleteGroup } from './groups/delete-group.ts'
import { getGroup } from './groups/get-group.ts'
import { settleWidening } from './groups/group-mapping.flow.ts'
import { listGroupMembers } from './groups/list-group-members.ts'
import { listGroups } from './groups/list-groups.ts'
import { removeGroupMember } from './groups/remove-group-member.ts'
import { setGroupRoleMappings } from './groups/set-group-role-mappings.ts'
import { updateGroup } from './groups/update-group.ts'
import type { Operation } from './http/operation.ts'
import { createInvitation } from './invitations/create-invitation.ts'
import { inviteUser } from './invitations/invite-user.ts'
import { listUserInvitations } from './invitations/list-user-invitations.ts'
import { revokeInvitation } from './invitations/revoke-invitation.ts'
import { getOwnUser } from './me/get-own-user.ts'
import { listPermissions } from './permissions/list-permissions.ts'
import { endAccessOf } from './requests/transition-store.ts'
import { createRole } from './roles/create-role.ts'
import { deleteRole } from './roles/delete-role.ts'
import { getRole } from './roles/get-role.ts'
import { listRoleHolders } from './roles/list-role-holders.ts'
import { listRoles } from './roles/list-roles.ts'
import { updateRole } from './roles/update-role.ts'
import { beginSecondFactor } from './second-factors/begin-second-factor.ts'
import { confirmSecondFactor } from './second-factors/confirm-second-factor.ts'
import { deleteSecondFactor } from './second-factors/delete-second-factor.ts'
import { listSecondFactors } from './second-factors/list-second-factors.ts'
import { replaceRecoveryCodes } from './second-factors/replace-recovery-codes.ts'
import { endOwnOtherSessions } from './sessions/end-own-other-sessions.ts'
import { endOwnSession } from './sessions/end-own-session.ts'
import { listOwnSessions } from './sessions/list-own-sessions.ts'
import { changeOwnPassword } from './users/change-own-password.ts'
import { createUser } from './users/create-user.ts'
import { deleteUser } from './users/delete-user.ts'
import { endUserAccess } from './users/end-user-access.ts'
import { getOwnPreferences } from './users/get-own-preferences.ts'
import { getOwnProfile } from './users/get-own-profile.ts'
import { getUser } from './users/get-user.ts'
import { listUserGroups } from './users/list-user-groups.ts'
import { listUsers } from './users/list-users.ts'
import { resetSecondFactors } from './users/reset-second-factors.ts'
import { setUserRoles } from './users/set-user-roles.ts'
import { suspendUser } from './users/suspend-user.ts'
import { unsuspendUser } from './users/unsuspend-user.ts'
import { updateOwnPreferences } from './users/update-own-preferences.ts'
import { updateOwnProfile } from './users/update-own-profile.ts'
import { updateUser } from './users/update-user.ts'

/** Users, what they may do, and how they are let in. */
export const peopleOperations: Record<string, Operation> = {
  listPermissions,
  createRole,
  listRoles,
  getRole,
  updateRole: updateRole(settleWidening),
  deleteRole,
  listRoleHolders,
  createUser,
  listUsers,
  getUser,
  listUserGroups,
  updateUser: updateUser(endAccessAndInvitations),
  deleteUser: deleteUser(endAccessAndInvitations),
  suspendUser: suspendUser(endAccessAndInvitations),
  unsuspendUser,
  endUserAccess: endUserAccess(endAccessOf),
  resetSecondFactors,
  getOwnUser,
  getOwnProfile,
  updateOwnProfile,
  getOwnPreferences,
  updateOwnPreferences,
  changeOwnPassword,
  listOwnSessions,
  listSecondFactors,
  beginSecondFactor,
  confirmSecondFactor,
  deleteSecondFactor,
  replaceRecoveryCodes,
  endOwnSession,
  endOwnOtherSessions,
  createInvitation,
  inviteUser,
  listUserInvitations,
  revokeInvitation,
  setUserRoles,
  createGroup,
  listGroups,
  getGroup,
  updateGroup,
  deleteGroup,
  addGroupMember,
  listGroupMembers,
  removeGroupMember,
  setGroupRoleMappings,
  createApiKey,
  listApiKeys,
  revokeApiKey,
}
