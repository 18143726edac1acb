import { createApiKey } from './api-keys/create-api-key.ts'
import { listApiKeys } from './api-keys/list-api-keys.ts'
import { revokeApiKey } from './api-keys/revoke-api-key.ts'
import { driverTypes, leaving } from './app.ts'
import { exportAuditEvents } from './audit/export-audit-events.ts'
import { listAuditEvents } from './audit/list-audit-events.ts'
import { beginAuthorization } from './auth/begin-authorization.ts'
import { checkInvitation } from './auth/check-invitation.ts'
import { checkSetupLink } from './auth/check-setup-link.ts'
import { discoverTenant } from './auth/discover-tenant.ts'
import { exchangeAuthorizationCode } from './auth/exchange-authorization-code.ts'
import { finishSecondFactor } from './auth/finish-second-factor.ts'
import { getJwks } from './auth/get-jwks.ts'
import { login } from './auth/login.ts'
import { logout } from './auth/logout.ts'
import { receiveLogoutToken } from './auth/receive-logout-token.ts'
import { startSession } from './auth/start-session.ts'
import { useInvitation } from './auth/use-invitation.ts'
import { useSetupLink } from './auth/use-setup-link.ts'
import { addFavourite } from './catalogue/add-favourite.ts'
import { listCatalogue } from './catalogue/list-catalogue.ts'
import { listFavourites } from './catalogue/list-favourites.ts'
import { removeFavourite } from './catalogue/remove-favourite.ts'
import { listCloudAccounts } from './cloud/list-cloud-accounts.ts'
import { upsertCloudAccounts } from './cloud/upsert-cloud-accounts.ts'
import { requestReconciliation } from './grants/entitlement-store.ts'
import { getGrant } from './grants/get-grant.ts'
import { listGrants } from './grants/list-grants.ts'
import { countInUse } from './grants/provisioner-use-store.ts'
import { retryGrant } from './grants/retry-grant.ts'
import { revokeGrant } from './grants/revoke-grant.ts'
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
import { createIdentityProvider } from './identity-providers/create-identity-provider.ts'
import { deleteIdentityProvider } from './identity-providers/delete-identity-provider.ts'
import { getIdentityProvider } from './identity-providers/get-identity-provider.ts'
import { listIdentityProviders } from './identity-providers/list-identity-providers.ts'
import { updateIdentityProvider } from './identity-providers/update-identity-provider.ts'
import { createInvitation } from './invitations/create-invitation.ts'
import { inviteUser } from './invitations/invite-user.ts'
import { listUserInvitations } from './invitations/list-user-invitations.ts'
import { revokeInvitation } from './invitations/revoke-invitation.ts'
import { getOwnUser } from './me/get-own-user.ts'
import { createEmailChannel } from './notification-channels/create-email-channel.ts'
import { createWebhookChannel } from './notification-channels/create-webhook-channel.ts'
import { deleteNotificationChannel } from './notification-channels/delete-notification-channel.ts'
import { listDeliveries } from './notification-channels/delivery/list-deliveries.ts'
import { resendDelivery } from './notification-channels/delivery/resend-delivery.ts'
import { testNotificationChannel } from './notification-channels/delivery/test-notification-channel.ts'
import { getNotificationChannel } from './notification-channels/get-notification-channel.ts'
import { listNotificationChannels } from './notification-channels/list-notification-channels.ts'
import { rotateChannelSecret } from './notification-channels/rotate-channel-secret.ts'
import { updateNotificationChannel } from './notification-channels/update-notification-channel.ts'
import { listNotifications } from './notifications/list-notifications.ts'
import { markAllNotificationsRead } from './notifications/mark-all-notifications-read.ts'
import { markNotificationRead } from './notifications/mark-notification-read.ts'
import { streamNotifications } from './notifications/stream-notifications.ts'
import { listPermissions } from './permissions/list-permissions.ts'
import { listPolicyCases } from './policies/cases/list-policy-cases.ts'
import { replacePolicyCases } from './policies/cases/replace-policy-cases.ts'
import { createPolicy } from './policies/create-policy.ts'
import { createRule } from './policies/create-rule.ts'
import { deletePolicy } from './policies/delete-policy.ts'
import { deleteRule } from './policies/delete-rule.ts'
import { exportPolicy } from './policies/files/export-policy.ts'
import { importPolicy } from './policies/files/import-policy.ts'
import { getPolicy } from './policies/get-policy.ts'
import { getPolicySchema } from './policies/get-policy-schema.ts'
import { getRule } from './policies/get-rule.ts'
import { listPolicies } from './policies/list-policies.ts'
import { reorderPolicies } from './policies/reorder-policies.ts'
import { reorderRules } from './policies/reorder-rules.ts'
import { updatePolicy } from './policies/update-policy.ts'
import { updateRule } from './policies/update-rule.ts'
import { checkInvariants } from './policy-analysis/invariants/check-invariants.ts'
import { getPolicyReplay } from './policy-analysis/replay/get-policy-replay.ts'
import { replayPolicies } from './policy-analysis/replay/replay-policies.ts'
import { testPolicies } from './policy-analysis/test-policies.ts'
import { createProvisioner } from './provisioners/create-provisioner.ts'
import { deleteProvisioner } from './provisioners/delete-provisioner.ts'
import { getProvisioner } from './provisioners/get-provisioner.ts'
import { listProvisioners } from './provisioners/list-provisioners.ts'
import { reportAccessResult } from './provisioners/report-access-result.ts'
import { rotateProvisionerSecret } from './provisioners/rotate-provisioner-secret.ts'
import { testProvisioner } from './provisioners/test-provisioner.ts'
import { updateProvisioner } from './provisioners/update-provisioner.ts'
import { createRehearsal } from './rehearsal/create-rehearsal.ts'
import { createRehearsalToken } from './rehearsal/create-rehearsal-token.ts'
import { getRehearsal } from './rehearsal/get-rehearsal.ts'
import { goLiveWith } from './rehearsal/go-live.flow.ts'
import { goLive } from './rehearsal/go-live.ts'
import { approveRequest } from './requests/approve-request.ts'
import { cancelRequest } from './requests/cancel-request.ts'
import { createRequest } from './requests/create-request.ts'
import { createRequestComment } from './requests/create-request-comment.ts'
import { decideRequests } from './requests/decide-requests.ts'
import { denyRequest } from './requests/deny-request.ts'
import { extendGrant } from './requests/extend-grant.ts'
import { getAccessRequestStatus } from './requests/get-access-request-status.ts'
import { getRequest } from './requests/get-request.ts'
import { getRequestDecision } from './requests/get-request-decision.ts'
import { listDeciders } from './requests/list-deciders.ts'
import { listRequestComments } from './requests/list-request-comments.ts'
import { listRequests } from './requests/list-requests.ts'
import { previewRequest } from './requests/preview-request.ts'
import { remindDeciders } from './requests/remind-deciders.ts'
import { cancelExtension, endAccessOf, endAccessOfAll } from './requests/transition-store.ts'
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
import { getAiProvider } from './settings/get-ai-provider.ts'
import { getAiProviderDefault } from './settings/get-ai-provider-default.ts'
import { getSetting } from './settings/get-setting.ts'
import { getSignInSettings } from './settings/get-sign-in-settings.ts'
import { listAiProviders } from './settings/list-ai-providers.ts'
import { listSettings } from './settings/list-settings.ts'
import { setAiProviderConfig } from './settings/set-ai-provider-config.ts'
import { setAiProviderDefault } from './settings/set-ai-provider-default.ts'
import { updateSignInSettings } from './settings/update-sign-in-settings.ts'
import { upsertSetting } from './settings/upsert-setting.ts'
import { streamChanges } from './stream/stream-changes.ts'
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

const goLiveNow = goLiveWith(endAccessOfAll)

/** THE list: every endpoint. The name is the operationId, the file and the verb. */
export const operations: Record<string, Operation> = {
  discoverTenant,
  login,
  finishSecondFactor,
  beginAuthorization,
  exchangeAuthorizationCode,
  startSession,
  checkSetupLink,
  useSetupLink,
  checkInvitation,
  useInvitation,
  logout,
  receiveLogoutToken,
  getJwks,
  createRequest,
  previewRequest,
  listCatalogue,
  listFavourites,
  addFavourite,
  removeFavourite,
  listRequests,
  getRequest,
  getRequestDecision,
  listRequestComments,
  createRequestComment,
  listDeciders,
  approveRequest,
  denyRequest,
  decideRequests,
  cancelRequest,
  remindDeciders,
  getAccessRequestStatus,
  listGrants,
  getGrant,
  revokeGrant: revokeGrant(cancelExtension),
  retryGrant,
  extendGrant,
  createPolicy,
  listPolicies,
  reorderPolicies,
  getPolicySchema,
  checkInvariants,
  listPolicyCases,
  replacePolicyCases,
  testPolicies,
  getPolicy,
  updatePolicy,
  deletePolicy,
  exportPolicy,
  importPolicy,
  createRule,
  reorderRules,
  replayPolicies,
  getPolicyReplay,
  getRule,
  updateRule,
  deleteRule,
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
  updateUser: updateUser(leaving),
  deleteUser: deleteUser(leaving),
  suspendUser: suspendUser(leaving),
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
  upsertSetting,
  listSettings,
  getSetting,
  getSignInSettings,
  updateSignInSettings,
  getAiProviderDefault,
  setAiProviderDefault,
  getAiProvider,
  setAiProviderConfig,
  listAiProviders,
  upsertCloudAccounts,
  listCloudAccounts,
  createEmailChannel,
  createWebhookChannel,
  listNotificationChannels,
  getNotificationChannel,
  updateNotificationChannel,
  deleteNotificationChannel,
  testNotificationChannel,
  listDeliveries,
  resendDelivery,
  rotateChannelSecret,
  createIdentityProvider,
  listIdentityProviders,
  getIdentityProvider,
  updateIdentityProvider,
  deleteIdentityProvider,
  createProvisioner: createProvisioner(driverTypes, goLiveNow),
  listProvisioners,
  getProvisioner,
  updateProvisioner: updateProvisioner(driverTypes, { countInUse, goLive: goLiveNow }),
  deleteProvisioner: deleteProvisioner(countInUse),
  testProvisioner: testProvisioner(driverTypes),
  rotateProvisionerSecret: rotateProvisionerSecret(driverTypes),
  reportAccessResult: reportAccessResult(requestReconciliation),
  createRehearsal,
  getRehearsal,
  createRehearsalToken,
  goLive: goLive(goLiveNow),
  listNotifications,
  streamNotifications,
  streamChanges,
  markNotificationRead,
  markAllNotificationsRead,
  listAuditEvents,
  exportAuditEvents,
}
