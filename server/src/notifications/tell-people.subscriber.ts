import type { DeliveredEvent, Subscriber } from '../events/deliver.ts'
import type { Tx, WorkCtx } from '../kernel/context.ts'
import {
  findChannelToTell,
  findGrantsToTell,
  findRequestToTell,
  insertNotifications,
  listHolders,
  type NewNotification,
} from './notification-store.ts'
import {
  channelEvent,
  type GrantEvent,
  isGrantEvent,
  isRequestEvent,
  mendingScopes,
  noticesOfChannel,
  noticesOfGrant,
  noticesOfRequest,
  type RequestAudience,
  type RequestEvent,
  toldEvents,
} from './who-is-told.ts'

/** The ids of those who may decide the request at that moment, in portions. */
export type WhoMayDecide = (tx: Tx, request_id: string, at: Date) => AsyncIterable<string[]>

type Portions = AsyncIterable<string[]> | string[][]

/**
 * Writes what each person is told. `whoMayDecide` is policy's answer: asking somebody to decide who
 * is not permitted to would only be noise.
 */
export function tellPeople(whoMayDecide: WhoMayDecide): Subscriber {
  return {
    name: 'notifications',
    on: toldEvents,
    async handle(ctx, events) {
      let grants: (DeliveredEvent & { type: GrantEvent })[] = []
      for (const event of events) {
        if (isOfGrant(event)) grants.push(event)
        if (event.type === channelEvent) await tellOfChannel(ctx, event)
        if (!isRequestEvent(event.type)) continue
        await tellOfGrants(ctx, grants)
        grants = []
        await tellOfRequest(ctx, event.type, event, whoMayDecide)
      }
      await tellOfGrants(ctx, grants)
    },
  }
}

function isOfGrant(event: DeliveredEvent): event is DeliveredEvent & { type: GrantEvent } {
  return isGrantEvent(event.type)
}

async function tellOfRequest(
  { tx }: WorkCtx,
  event_type: RequestEvent,
  { id: event_id, at, actor_id, subject_id }: DeliveredEvent,
  whoMayDecide: WhoMayDecide,
): Promise<void> {
  const request = await findRequestToTell(tx, subject_id, actor_id)
  if (request === undefined) return
  const { requester_id } = request
  const people: Record<RequestAudience, () => Portions> = {
    requester: () => [[requester_id]],
    eligible_approvers: () => whoMayDecide(tx, subject_id, new Date(at)),
    every_approver: () => listHolders(tx, ['requests:approve'], requester_id),
    administrators: () => listHolders(tx, mendingScopes, null),
  }
  const resource = { resource_type: 'access_request', resource_id: subject_id } as const
  for (const { to, title, body } of noticesOfRequest(event_type, request)) {
    await tellAll(tx, people[to](), { event_id, event_type, title, body, ...resource })
  }
}

async function tellOfChannel({ tx }: WorkCtx, { id: event_id, subject_id }: DeliveredEvent): Promise<void> {
  const channel = await findChannelToTell(tx, subject_id)
  if (channel === undefined) return
  const event = {
    event_id,
    event_type: channelEvent,
    resource_type: 'notification_channel',
    resource_id: subject_id,
  } as const
  for (const { title, body } of noticesOfChannel(channel)) {
    await tellAll(tx, listHolders(tx, ['notification_channels:write'], null), { title, body, ...event })
  }
}

/** Tells the same to many, a portion of them after another. */
async function tellAll(tx: Tx, people: Portions, told: Omit<NewNotification, 'user_id'>): Promise<void> {
  for await (const user_ids of people) {
    await insertNotifications(
      tx,
      user_ids.map((user_id) => ({ ...told, user_id })),
    )
  }
}

/** Of many at once, as when many end at one moment. */
async function tellOfGrants(
  { tx }: WorkCtx,
  events: readonly (DeliveredEvent & { type: GrantEvent })[],
): Promise<void> {
  if (events.length === 0) return
  const ids = events.map((event) => event.subject_id)
  const grants = new Map((await findGrantsToTell(tx, ids)).map((grant) => [grant.id, grant]))
  const notifications = events.flatMap(({ id: event_id, type: event_type, subject_id }): NewNotification[] => {
    const grant = grants.get(subject_id)
    if (grant === undefined) return []
    const resource = { resource_type: 'access_grant', resource_id: subject_id } as const
    const to = { user_id: grant.holder_id, event_id, event_type, ...resource }
    return noticesOfGrant(event_type, grant).map(({ title, body }) => ({ ...to, title, body }))
  })
  await insertNotifications(tx, notifications)
}
