import type { DeliveredEvent, Subscriber } from '../events/deliver.ts'
import type { Tx } from '../kernel/context.ts'
import type { GrantEvent } from '../messages/event-facts.ts'
import { grantMessage, isGrantEvent, isRequestEvent, recordMessage } from '../messages/message-table.ts'
import { type Addressed, type Mailing, mailKind, type NewNotification, newNotification } from './new-notification.ts'
import { findChannelFacts, findDirectoryFacts, findGrantFacts, findUserFacts } from './notification-facts-store.ts'
import {
  applies,
  audiences,
  channelEvent,
  type DirectoryEvent,
  isDirectoryEvent,
  isUserEvent,
  notificationRules,
  notifiedEvents,
  type UserEvent,
  type UserRule,
} from './notification-rules.ts'
import { insertNotifications, listHolders, listOwners } from './notification-store.ts'
import { type NotifyingOfRequests, notificationsOfRequests, type OfRequest } from './notifications-of-requests.flow.ts'

type OfGrant = DeliveredEvent & { type: GrantEvent }

/** The notifications that one statement inserts, at most: an event may be for thousands of users. */
const maxInserted = 500

/**
 * Writes each user's notifications, in the order of the events, and the mails of these. The events of requests and of grants, of which there
 * are many at a time, are read in few statements for all of them.
 */
export function notifyPeople(notifying: NotifyingOfRequests): Subscriber {
  return {
    name: 'notifications',
    on: notifiedEvents,
    async handle({ tx }, events) {
      const [ofRequests, ofGrants] = await Promise.all([
        notificationsOfRequests(tx, events.filter(isOfRequest), notifying),
        notificationsOfGrants(tx, events.filter(isOfGrant), notifying),
      ])
      let part: NewNotification[] = []
      for (const event of events) {
        const known = ofRequests.get(event.id) ?? ofGrants.get(event.id)
        const addressed = known ?? (await notificationOfRecord(tx, event, notifying))
        if (addressed === undefined) continue
        for (const user_id of addressed.user_ids) {
          part.push({ ...addressed.notification, user_id })
          if (part.length < maxInserted) continue
          await insertNotifications(tx, part)
          part = []
        }
      }
      await insertNotifications(tx, part)
    },
  }
}

function isOfRequest(event: DeliveredEvent): event is OfRequest {
  return isRequestEvent(event.type)
}

function isOfGrant(event: DeliveredEvent): event is OfGrant {
  return isGrantEvent(event.type)
}

/** The notifications of events of grants, by the event's id. */
async function notificationsOfGrants(
  tx: Tx,
  events: readonly OfGrant[],
  mailing: Mailing,
): Promise<Map<string, Addressed>> {
  const found = await findGrantFacts(tx, events)
  return new Map(
    events.flatMap((event): [string, Addressed][] => {
      const facts = found.get(event.id)
      const rule = notificationRules[event.type]
      if (facts === undefined || !applies(rule, facts)) return []
      const mail_kind = mailKind(mailing, rule, facts)
      const notification = newNotification(event, 'access_grant', grantMessage(event.type, facts), mail_kind)
      return [[event.id, { notification, user_ids: [facts.holder_id] }]]
    }),
  )
}

/** The notification of an event of another record; undefined where there is none. */
async function notificationOfRecord(tx: Tx, event: DeliveredEvent, mailing: Mailing): Promise<Addressed | undefined> {
  const { type } = event
  if (type === channelEvent) return notificationOfChannel(tx, event, mailing)
  if (isDirectoryEvent(type)) return notificationOfDirectory(tx, type, event, mailing)
  if (isUserEvent(type)) return notificationOfUser(tx, type, event, mailing)
  return undefined
}

async function notificationOfChannel(tx: Tx, event: DeliveredEvent, mailing: Mailing): Promise<Addressed | undefined> {
  const facts = await findChannelFacts(tx, event)
  if (facts === undefined) return undefined
  const keepers = await Array.fromAsync(listHolders(tx, audiences.channel_keepers.scopes, null))
  const mail_kind = mailKind(mailing, notificationRules[channelEvent], facts)
  const message = recordMessage(channelEvent, facts)
  const notification = newNotification(event, 'notification_channel', message, mail_kind)
  return { notification, user_ids: keepers.flat() }
}

async function notificationOfDirectory(
  tx: Tx,
  type: DirectoryEvent,
  event: DeliveredEvent,
  mailing: Mailing,
): Promise<Addressed | undefined> {
  const facts = await findDirectoryFacts(tx, event)
  if (facts === undefined) return undefined
  const user_ids = await listOwners(tx, [null, null])
  const mail_kind = mailKind(mailing, notificationRules[type], facts)
  const notification = newNotification(event, 'identity_provider', recordMessage(type, facts), mail_kind)
  return { notification, user_ids }
}

async function notificationOfUser(
  tx: Tx,
  type: UserEvent,
  event: DeliveredEvent,
  mailing: Mailing,
): Promise<Addressed | undefined> {
  const facts = await findUserFacts(tx, event)
  if (facts === undefined) return undefined
  const rule: UserRule = notificationRules[type]
  const user_ids = rule.to === 'person' ? [event.subject_id] : await ownersBesides(tx, event)
  const notification = newNotification(event, 'user', recordMessage(type, facts), mailKind(mailing, rule, facts))
  return { notification, user_ids }
}

/** An owner whose key did it may know nothing of it: the key may be in other hands. */
function ownersBesides(tx: Tx, { actor_kind, actor_id, subject_id }: DeliveredEvent): Promise<string[]> {
  return listOwners(tx, [actor_kind === 'user' ? actor_id : null, subject_id])
}
