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
import { findGrantToTell, findRequestToTell, insertNotifications } from './notification-store.ts'

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
    async handle(ctx, event) {
      if (isRequestEvent(event.type)) await tellOfRequest(ctx, event.type, event, mayApprove)
      if (isGrantEvent(event.type)) await tellOfGrant(ctx, event.type, event)
    },
  }
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
  await insertNotifications(ctx.tx, await recipients[to](), {
    event_id: event.id,
    event_type,
    title,
    body,
    resource_type: 'access_request',
    resource_id: event.subject_id,
  })
}

async function tellOfGrant(ctx: WorkCtx, event_type: GrantEvent, event: DeliveredEvent): Promise<void> {
  const grant = await findGrantToTell(ctx.tx, event.subject_id)
  if (grant === undefined) return
  await insertNotifications(ctx.tx, [grant.holder_id], {
    event_id: event.id,
    event_type,
    ...noticeOfGrant(event_type, grant),
    resource_type: 'access_grant',
    resource_id: event.subject_id,
  })
}
