import type { Subscriber } from './events/deliver.ts'
import { convergeEntitlement } from './grants/converge-entitlement.job.ts'
import { planGrant } from './grants/plan-grant.job.ts'
import { sweepProvisioner } from './grants/sweep-provisioner.job.ts'
import { endExpiredGroups } from './groups/end-expired-memberships.job.ts'
import type { Outgoing } from './http/outgoing.ts'
import { ldapSource } from './identity-providers/sources/ldap/ldap-source.ts'
import { scimSource } from './identity-providers/sources/scim-source.ts'
import type { SourceTypes } from './identity-providers/sync/open-directory.flow.ts'
import { syncDirectory } from './identity-providers/sync/sync-directory.job.ts'
import { readInventory } from './inventory/read-inventory.job.ts'
import { endingInvitations } from './invitations/invitation-store.ts'
import { type InvitationMailing, mailInvitation } from './invitations/mail-invitation.job.ts'
import type { DueWork } from './jobs/work-list.ts'
import type { Egress } from './kernel/context.ts'
import type { Mailer } from './mail/mailer.flow.ts'
import type { CarrierOpening, Carriers } from './notification-channels/carrier.ts'
import { type DeliveryDependencies, deliverDue } from './notification-channels/delivery/deliver-queue.job.ts'
import { notifyChannels } from './notification-channels/delivery/notify-channels.subscriber.ts'
import { emailCarrier } from './notification-channels/email/email-carrier.ts'
import { eventMessage } from './notification-channels/webhook/event-message.ts'
import { webhookCarrier } from './notification-channels/webhook/webhook-carrier.ts'
import { mailNotifications, type NotificationMailing } from './notifications/mail-notifications.job.ts'
import { notifyPeople } from './notifications/notify-people.subscriber.ts'
import { runReplay } from './policy-analysis/replay/run-replay.job.ts'
import { awsIdentityCenter } from './provisioners/aws-identity-center/aws-identity-center.ts'
import type { Drivers, DriverTypes } from './provisioners/drivers.ts'
import { postgresql } from './provisioners/postgresql/postgresql.ts'
import { sandbox } from './provisioners/sandbox/sandbox.ts'
import { webhook } from './provisioners/webhook/webhook.ts'
import { expireRequest } from './requests/expire-request.job.ts'
import { whoMayDecideEach } from './requests/possible-approvers.flow.ts'
import { reauthorize } from './requests/reauthorize-request.flow.ts'
import { remindApprovers } from './requests/remind-approvers.job.ts'
import { endAccessOf } from './requests/transition-store.ts'

/** The targets on which a tenant can have access given. */
export const driverTypes: DriverTypes = {
  sandbox,
  postgresql,
  webhook,
  'aws-identity-center': awsIdentityCenter,
}

/** The carriers of deliveries, by the type of channel. */
export const openCarriers = (opening: CarrierOpening, mailer: Mailer): Carriers => ({
  email: emailCarrier(mailer, opening.config.public_url),
  webhook: webhookCarrier(opening),
})

/** The messages sent to receivers of the tenants. */
export const outgoing: Readonly<Record<string, Outgoing>> = { eventMessage }

/** The subscribers, which act on events after their commit. `mails`: mail is set up. */
export const subscribers = (mails: boolean): readonly Subscriber[] => [
  notifyPeople({ whoMayDecideEach, mails }),
  notifyChannels,
]

/** What ends with a user who is stopped, or leaves. */
export const endAccessAndInvitations = endingInvitations(endAccessOf)

/** What sends mails and deliveries. */
export type Post = DeliveryDependencies & InvitationMailing & NotificationMailing

/** The protocols by which directories are read. */
export const directorySources: SourceTypes = { scim: scimSource, ldap: ldapSource }

/** The due work. Every target is the sandbox until a tenant sets up a provisioner. `egress`: the way to directories. */
export const dueWork = (drivers: Drivers, post: Post, egress: Egress): readonly DueWork[] => [
  expireRequest,
  planGrant(drivers),
  ...convergeEntitlement(drivers, reauthorize),
  sweepProvisioner(drivers),
  readInventory(drivers, driverTypes),
  syncDirectory({
    ...{ drivers, egress, sealer: post.sealer },
    ...{ types: driverTypes, sources: directorySources, endAccess: endAccessAndInvitations },
  }),
  runReplay,
  remindApprovers,
  endExpiredGroups,
  ...deliverDue(post),
  mailInvitation(post),
  // A process without a mail server leaves them to others.
  ...(post.mailer.hasServer ? [mailNotifications(post)] : []),
]
