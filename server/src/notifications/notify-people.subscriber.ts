import type { DeliveredEvent, Subscriber } from '../events/deliver.ts'
import type { Tx, WorkCtx } from '../kernel/context.ts'
import type { GrantEvent, RequestEvent } from '../messages/event-facts.ts'
import { type Message, paragraphOf } from '../messages/message.ts'
import { grantMessage, isGrantEvent, isRequestEvent, recordMessage, requestMessage } from '../messages/message-table.ts'
import { findChannelFacts, findGrantFacts, findRequestFacts, findUserFacts } from './notification-facts-store.ts'
import {
  applies,
  channelEvent,
  notificationRules,
  notifiedEvents,
  type RequestAudience,
  repairScopes,
  suspensionEvent,
} from './notification-rules.ts'
import { insertNotifications, listHolders, listOwners, type NewNotification } from './notification-store.ts'

/** The ids of users who may decide the request at that moment, in batches. */
export type WhoMayDecide = (tx: Tx, request_id: string, at: Date) => AsyncIterable<string[]>

type Batches = AsyncIterable<string[]> | string[][]

/**
 * Writes each user's notifications. `whoMayDecide` comes from policy evaluation: a request to decide would only be noise
 * for a user who is not permitted to.
 */
export function notifyPeople(whoMayDecide: WhoMayDecide): Subscriber {
  return {
    name: 'notifications',
    on: notifiedEvents,
    async handle(ctx, events) {
      let grants: (DeliveredEvent & { type: GrantEvent })[] = []
      for (const event of events) {
        if (isOfGrant(event)) grants.push(event)
        if (event.type === channelEvent) await notifyOfChannel(ctx, event)
        if (event.type === suspensionEvent) await notifyOfSuspension(ctx, event)
        if (!isRequestEvent(event.type)) continue
        await notifyOfGrants(ctx, grants)
        grants = []
        await notifyOfRequest(ctx, event.type, event, whoMayDecide)
      }
      await notifyOfGrants(ctx, grants)
    },
  }
}

function isOfGrant(event: DeliveredEvent): event is DeliveredEvent & { type: GrantEvent } {
  return isGrantEvent(event.type)
}

async function notifyOfRequest(
  { tx }: WorkCtx,
  type: RequestEvent,
  event: DeliveredEvent,
  whoMayDecide: WhoMayDecide,
): Promise<void> {
  const facts = await findRequestFacts(tx, event)
  const rule = notificationRules[type]
  if (facts === undefined || !applies(rule, facts)) return
  const { requester_id } = facts
  const requester = () => [[requester_id]]
  const eligible = () => whoMayDecide(tx, event.subject_id, new Date(event.at))
  const people: Record<RequestAudience, () => Batches> = {
    requester,
    eligible_approvers: eligible,
    other_side: facts.is_own ? eligible : requester,
    every_approver: () => listHolders(tx, ['requests:approve'], requester_id),
    administrators: () => listHolders(tx, repairScopes, null),
  }
  await notifyAll(tx, people[rule.to](), newNotification(event, 'access_request', requestMessage(type, facts)))
}

async function notifyOfChannel({ tx }: WorkCtx, event: DeliveredEvent): Promise<void> {
  const facts = await findChannelFacts(tx, event)
  if (facts === undefined) return
  const administrators = listHolders(tx, ['notification_channels:write'], null)
  await notifyAll(
    tx,
    administrators,
    newNotification(event, 'notification_channel', recordMessage(channelEvent, facts)),
  )
}

async function notifyOfSuspension({ tx }: WorkCtx, event: DeliveredEvent): Promise<void> {
  const facts = await findUserFacts(tx, event)
  if (facts === undefined) return
  // An owner whose key did it may know nothing of it: the key may be in other hands.
  const doer = event.actor_kind === 'user' ? event.actor_id : null
  const owners = await listOwners(tx, [doer, event.subject_id])
  await notifyAll(tx, [owners], newNotification(event, 'user', recordMessage(suspensionEvent, facts)))
}

function newNotification(
  event: DeliveredEvent,
  resource_type: NewNotification['resource_type'],
  message: Message,
): Omit<NewNotification, 'user_id'> {
  const { id: event_id, type: event_type, subject_id: resource_id } = event
  return { event_id, event_type, title: message.title, body: paragraphOf(message), resource_type, resource_id }
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
  { tx }: WorkCtx,
  events: readonly (DeliveredEvent & { type: GrantEvent })[],
): Promise<void> {
  if (events.length === 0) return
  const found = await findGrantFacts(tx, events)
  const notifications = events.flatMap((event): NewNotification[] => {
    const facts = found.get(event.id)
    if (facts === undefined || !applies(notificationRules[event.type], facts)) return []
    const notification = newNotification(event, 'access_grant', grantMessage(event.type, facts))
    return [{ ...notification, user_id: facts.holder_id }]
  })
  await insertNotifications(tx, notifications)
}
