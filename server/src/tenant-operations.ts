import { directorySources, driverTypes, endAccessAndInvitations } from './app.ts'
import { exportAuditEvents } from './audit/export-audit-events.ts'
import { listAuditEvents } from './audit/list-audit-events.ts'
import { listCloudAccounts } from './cloud/list-cloud-accounts.ts'
import { upsertCloudAccounts } from './cloud/upsert-cloud-accounts.ts'
import { requestReconciliation } from './grants/entitlement-store.ts'
import { endOrphan as endOrphanNow } from './grants/orphan-store.ts'
import { findUse } from './grants/provisioner-use-store.ts'
import { sweepEnabled } from './grants/sweep-store.ts'
import type { Operation } from './http/operation.ts'
import { createIdentityProvider } from './identity-providers/create-identity-provider.ts'
import { deleteIdentityProvider } from './identity-providers/delete-identity-provider.ts'
import { getIdentityProvider } from './identity-providers/get-identity-provider.ts'
import { listIdentityProviders } from './identity-providers/list-identity-providers.ts'
import { preflightIdentityProvider } from './identity-providers/preflight/preflight-identity-provider.ts'
import { getSyncRun } from './identity-providers/sync/get-sync-run.ts'
import { listSyncChanges } from './identity-providers/sync/list-sync-changes.ts'
import { listSyncRuns } from './identity-providers/sync/list-sync-runs.ts'
import { syncIdentityProvider } from './identity-providers/sync/sync-identity-provider.ts'
import { updateIdentityProvider } from './identity-providers/update-identity-provider.ts'
import { exportStandingAccess } from './inventory/export-standing-access.ts'
import { getInventory } from './inventory/get-inventory.ts'
import { beginInventory } from './inventory/inventory-part-store.ts'
import { listStandingAccess } from './inventory/list-standing-access.ts'
import { listUnmatchedUsers } from './inventory/list-unmatched-users.ts'
import { refreshInventory } from './inventory/refresh-inventory.ts'
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
import { getOwnNotificationPreferences } from './notifications/get-own-notification-preferences.ts'
import { listNotifications } from './notifications/list-notifications.ts'
import { markAllNotificationsRead } from './notifications/mark-all-notifications-read.ts'
import { markNotificationRead } from './notifications/mark-notification-read.ts'
import { setOwnNotificationPreferences } from './notifications/set-own-notification-preferences.ts'
import { streamNotifications } from './notifications/stream-notifications.ts'
import { createProvisioner } from './provisioners/create-provisioner.ts'
import { deleteProvisioner } from './provisioners/delete-provisioner.ts'
import { endOrphan } from './provisioners/end-orphan.ts'
import { getProvisioner } from './provisioners/get-provisioner.ts'
import { listOrphans } from './provisioners/list-orphans.ts'
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
import { endAccessOfAll } from './requests/transition-store.ts'
import { listConflicts } from './scim/conflicts/list-conflicts.ts'
import { settleConflict } from './scim/conflicts/settle-conflict.ts'
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

const goLiveNow = goLiveWith(endAccessOfAll)

/** What a tenant sets up, and what it is notified of. */
export const tenantOperations: Record<string, Operation> = {
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
  syncIdentityProvider: syncIdentityProvider({ sources: directorySources, types: driverTypes }),
  listSyncRuns,
  getSyncRun,
  listSyncChanges,
  preflightIdentityProvider: preflightIdentityProvider(driverTypes),
  deleteIdentityProvider,
  listConflicts,
  settleConflict: settleConflict(endAccessAndInvitations),
  createProvisioner: createProvisioner(driverTypes, goLiveNow),
  listProvisioners,
  getProvisioner,
  updateProvisioner: updateProvisioner(driverTypes, { findUse, goLive: goLiveNow, beginInventory, sweepEnabled }),
  deleteProvisioner: deleteProvisioner(findUse),
  testProvisioner: testProvisioner(driverTypes, beginInventory),
  rotateProvisionerSecret: rotateProvisionerSecret(driverTypes),
  listOrphans,
  endOrphan: endOrphan(endOrphanNow),
  reportAccessResult: reportAccessResult(requestReconciliation),
  getInventory: getInventory(driverTypes),
  refreshInventory: refreshInventory(driverTypes),
  listUnmatchedUsers: listUnmatchedUsers(driverTypes),
  listStandingAccess: listStandingAccess(driverTypes),
  exportStandingAccess: exportStandingAccess(driverTypes),
  createRehearsal,
  getRehearsal,
  createRehearsalToken,
  goLive: goLive(goLiveNow),
  listNotifications,
  streamNotifications,
  getOwnNotificationPreferences,
  setOwnNotificationPreferences,
  streamChanges,
  markNotificationRead,
  markAllNotificationsRead,
  listAuditEvents,
  exportAuditEvents,
}
