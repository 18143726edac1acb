import type { DeliveredEvent, Subscriber } from '../events/deliver.ts'
import type { Tx } from '../kernel/context.ts'
import type { GrantEvent, RequestEvent } from '../messages/event-facts.ts'
import { type Message, paragraphOf } from '../messages/message.ts'
import { grantMessage, isGrantEvent, isRequestEvent, recordMessage, requestMessage } from '../messages/message-table.ts'
import {
  findChannelFacts,
  findDirectoryFacts,
  findGrantFacts,
  findRequestFacts,
  findUserFacts,
} from './notification-facts-store.ts'
import type { NotificationKind } from './notification-kind.ts'
import {
  type Audience,
  applies,
  audienceOf,
  audiences,
  channelEvent,
  type DirectoryEvent,
  isDirectoryEvent,
  isMailed,
  isUserEvent,
  notificationRules,
  notifiedEvents,
  type RequestAudience,
  type Rule,
  type UserEvent,
  type UserRule,
} from './notification-rules.ts'
import { insertNotifications, listHolders, listOwners, type NewNotification } from './notification-store.ts'
import { notifiedAmong } from './notified-store.ts'

/** The ids of users who may decide the request at that moment, in batches. */
export type WhoMayDecide = (tx: Tx, request_id: string, at: Date) => AsyncIterable<string[]>

/** `mails`: mail is set up. `whoMayDecide`: a request to decide would only be noise for a user who is not permitted to. */
export type Notifying = { whoMayDecide: WhoMayDecide; mails: boolean }

type Batches = AsyncIterable<string[]> | string[][]

/** Writes each user's notifications, and the mails of these. */
export function notifyPeople(notifying: Notifying): Subscriber {
  return {
    name: 'notifications',
    on: notifiedEvents,
    async handle({ tx }, events) {
      let grants: (DeliveredEvent & { type: GrantEvent })[] = []
      for (const event of events) {
        if (isOfGrant(event)) grants.push(event)
        if (event.type === channelEvent) await notifyOfChannel(tx, event, notifying)
        if (isDirectoryEvent(event.type)) await notifyOfDirectory(tx, event.type, event, notifying)
        if (isUserEvent(event.type)) await notifyOfUser(tx, event.type, event, notifying)
        if (!isRequestEvent(event.type)) continue
        await notifyOfGrants(tx, grants, notifying)
        grants = []
        await notifyOfRequest(tx, event.type, event, notifying)
      }
      await notifyOfGrants(tx, grants, notifying)
    },
  }
}

function isOfGrant(event: DeliveredEvent): event is DeliveredEvent & { type: GrantEvent } {
  return isGrantEvent(event.type)
}

async function notifyOfRequest(tx: Tx, type: RequestEvent, event: DeliveredEvent, notifying: Notifying): Promise<void> {
  const facts = await findRequestFacts(tx, event)
  const rule = notificationRules[type]
  if (facts === undefined || !applies(rule, facts)) return
  const { requester_id } = facts
  const requester = () => [[requester_id]]
  const eligible = () => notifiedAmong(tx, notifying.whoMayDecide(tx, event.subject_id, new Date(event.at)))
  const people: Record<RequestAudience, () => Batches> = {
    requester,
    eligible_approvers: eligible,
    every_approver: () => listHolders(tx, audiences.every_approver.scopes, requester_id),
    administrators: () => listHolders(tx, audiences.administrators.scopes, null),
  }
  const mail_kind = mailKind(notifying, rule, facts)
  const notification = newNotification(event, 'access_request', requestMessage(type, facts), mail_kind)
  await notifyAll(tx, people[audienceOf(rule.to, facts.is_own)](), notification)
}

async function notifyOfChannel(tx: Tx, event: DeliveredEvent, notifying: Notifying): Promise<void> {
  const facts = await findChannelFacts(tx, event)
  if (facts === undefined) return
  const keepers = listHolders(tx, audiences.channel_keepers.scopes, null)
  const mail_kind = mailKind(notifying, notificationRules[channelEvent], facts)
  const message = recordMessage(channelEvent, facts)
  await notifyAll(tx, keepers, newNotification(event, 'notification_channel', message, mail_kind))
}

async function notifyOfDirectory(
  tx: Tx,
  type: DirectoryEvent,
  event: DeliveredEvent,
  notifying: Notifying,
): Promise<void> {
  const facts = await findDirectoryFacts(tx, event)
  if (facts === undefined) return
  const owners = await listOwners(tx, [null, null])
  const mail_kind = mailKind(notifying, notificationRules[type], facts)
  const message = recordMessage(type, facts)
  await notifyAll(tx, [owners], newNotification(event, 'identity_provider', message, mail_kind))
}

async function notifyOfUser(tx: Tx, type: UserEvent, event: DeliveredEvent, notifying: Notifying): Promise<void> {
  const facts = await findUserFacts(tx, event)
  if (facts === undefined) return
  const rule: UserRule = notificationRules[type]
  const people = rule.to === 'person' ? [event.subject_id] : await ownersBesides(tx, event)
  const notification = newNotification(event, 'user', recordMessage(type, facts), mailKind(notifying, rule, facts))
  await notifyAll(tx, [people], notification)
}

/** An owner whose key did it may know nothing of it: the key may be in other hands. */
function ownersBesides(tx: Tx, { actor_kind, actor_id, subject_id }: DeliveredEvent): Promise<string[]> {
  return listOwners(tx, [actor_kind === 'user' ? actor_id : null, subject_id])
}

/** The kind of mail that goes with the notification; null: none. */
function mailKind<To extends Audience, Facts>(
  { mails }: Notifying,
  rule: Rule<To, Facts>,
  facts: Facts,
): NotificationKind | null {
  return mails && isMailed(rule, facts) ? rule.kind : null
}

function newNotification(
  event: DeliveredEvent,
  resource_type: NewNotification['resource_type'],
  message: Message,
  mail_kind: NotificationKind | null,
): Omit<NewNotification, 'user_id'> {
  const { id: event_id, type: event_type, subject_id: resource_id } = event
  return {
    event_id,
    event_type,
    title: message.title,
    body: paragraphOf(message),
    resource_type,
    resource_id,
    mail_kind,
  }
}

/** Sends the same notification to many users, batch by batch. */
async function notifyAll(tx: Tx, people: Batches, notification: Omit<NewNotification, 'user_id'>): Promise<void> {
  for await (const user_ids of people) {
    await insertNotifications(
      tx,
      user_ids.map((user_id) => ({ ...notification, user_id })),
    )
  }
}

/** Notifies of many grant events at once, for example when many grants end at the same moment. */
async function notifyOfGrants(
  tx: Tx,
  events: readonly (DeliveredEvent & { type: GrantEvent })[],
  notifying: Notifying,
): Promise<void> {
  if (events.length === 0) return
  const found = await findGrantFacts(tx, events)
  const notifications = events.flatMap((event): NewNotification[] => {
    const facts = found.get(event.id)
    const rule = notificationRules[event.type]
    if (facts === undefined || !applies(rule, facts)) return []
    const mail_kind = mailKind(notifying, rule, facts)
    const notification = newNotification(event, 'access_grant', grantMessage(event.type, facts), mail_kind)
    return [{ ...notification, user_id: facts.holder_id }]
  })
  await insertNotifications(tx, notifications)
}
