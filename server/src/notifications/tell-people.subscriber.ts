import type { DeliveredEvent, Subscriber } from '../events/deliver.ts'
import type { WorkCtx } from '../kernel/context.ts'
import {
  type GrantEvent,
  grantNotices,
  isGrantEvent,
  isRequestEvent,
  noticeOfGrant,
  noticeOfRequest,
  type RequestEvent,
  requestNotices,
} from './notice.ts'
import { findGrantsToTell, findRequestToTell, insertNotifications, type NewNotification } from './notification-store.ts'

/** Those of the people whom policy permits to approve the request. */
export type MayApprove = (ctx: WorkCtx, request_id: string, user_ids: string[]) => Promise<string[]>

/**
 * Writes what each person is told of requests and grants. `mayApprove` is policy's answer: asking somebody to decide who
 * is not permitted to would only be noise.
 */
export function tellPeople(mayApprove: MayApprove): Subscriber {
  return {
    name: 'notifications',
    on: [...(Object.keys(requestNotices) as RequestEvent[]), ...(Object.keys(grantNotices) as GrantEvent[])],
    async handle(ctx, events) {
      let grants: (DeliveredEvent & { type: GrantEvent })[] = []
      for (const event of events) {
        if (isOfGrant(event)) grants.push(event)
        if (!isRequestEvent(event.type)) continue
        await tellOfGrants(ctx, grants)
        grants = []
        await tellOfRequest(ctx, event.type, event, mayApprove)
      }
      await tellOfGrants(ctx, grants)
    },
  }
}

function isOfGrant(event: DeliveredEvent): event is DeliveredEvent & { type: GrantEvent } {
  return isGrantEvent(event.type)
}

async function tellOfRequest(
  ctx: WorkCtx,
  event_type: RequestEvent,
  event: DeliveredEvent,
  mayApprove: MayApprove,
): Promise<void> {
  const request = await findRequestToTell(ctx.tx, event.subject_id, event.actor_id)
  const notice = request && noticeOfRequest(event_type, request)
  if (request === undefined || notice === undefined) return
  const { to, title, body } = notice
  const recipients = {
    requester: () => [request.requester_id],
    every_approver: () => request.approver_ids,
    eligible_approvers: () =>
      request.approver_ids.length === 0 ? [] : mayApprove(ctx, event.subject_id, request.approver_ids),
  }
  const notification = {
    event_id: event.id,
    event_type,
    title,
    body,
    resource_type: 'access_request',
    resource_id: event.subject_id,
  } as const
  const user_ids = await recipients[to]()
  await insertNotifications(
    ctx.tx,
    user_ids.map((user_id) => ({ ...notification, user_id })),
  )
}

/** Of many at once, as when many end at one moment. */
async function tellOfGrants(ctx: WorkCtx, events: readonly (DeliveredEvent & { type: GrantEvent })[]): Promise<void> {
  if (events.length === 0) return
  const ids = events.map((event) => event.subject_id)
  const grants = new Map((await findGrantsToTell(ctx.tx, ids)).map((grant) => [grant.id, grant]))
  const notifications = events.flatMap(({ id, type, subject_id }): NewNotification[] => {
    const grant = grants.get(subject_id)
    if (grant === undefined) return []
    const notice = noticeOfGrant(type, grant)
    const resource = { resource_type: 'access_grant', resource_id: subject_id } as const
    return [{ user_id: grant.holder_id, event_id: id, event_type: type, ...notice, ...resource }]
  })
  await insertNotifications(ctx.tx, notifications)
}
