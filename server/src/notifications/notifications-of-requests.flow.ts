import type { DeliveredEvent } from '../events/deliver.ts'
import type { Tx } from '../kernel/context.ts'
import type { RequestEvent, RequestFacts } from '../messages/event-facts.ts'
import { requestMessage } from '../messages/message-table.ts'
import { type Addressed, type Mailing, mailKind, newNotification } from './new-notification.ts'
import { findRequestFacts } from './notification-facts-store.ts'
import { applies, audienceOf, audiences, notificationRules, type RequestAudience } from './notification-rules.ts'
import { listHolders } from './notification-store.ts'
import { notifiedAmong } from './notified-store.ts'

export type OfRequest = DeliveredEvent & { type: RequestEvent }

/** The ids of users who may decide each of these requests at that moment, in the order of the requests, in batches of the users. */
export type WhoMayDecideEach = (tx: Tx, asked: readonly { request_id: string; at: Date }[]) => AsyncIterable<string[][]>

/** `whoMayDecideEach`: a request to decide would only be noise for a user who is not permitted to. */
export type NotifyingOfRequests = Mailing & { whoMayDecideEach: WhoMayDecideEach }

/** An event of which somebody is notified. */
type Told = { event: OfRequest; facts: RequestFacts & { requester_id: string }; to: RequestAudience }

/** The notifications of events of requests, by the event's id. What the events have in common is read once for all of them. */
export async function notificationsOfRequests(
  tx: Tx,
  events: readonly OfRequest[],
  notifying: NotifyingOfRequests,
): Promise<Map<string, Addressed>> {
  const found = await findRequestFacts(tx, events)
  const told = events.flatMap((event): Told[] => {
    const facts = found.get(event.id)
    const rule = notificationRules[event.type]
    if (facts === undefined || !applies(rule, facts)) return []
    return [{ event, facts, to: audienceOf(rule.to, facts.is_own) }]
  })
  const peopleOf = await findPeople(tx, told, notifying)
  return new Map(
    told.map((one) => {
      const { event, facts } = one
      const mail_kind = mailKind(notifying, notificationRules[event.type], facts)
      const notification = newNotification(event, 'access_request', requestMessage(event.type, facts), mail_kind)
      return [event.id, { notification, user_ids: peopleOf(one) }]
    }),
  )
}

async function findPeople(
  tx: Tx,
  told: readonly Told[],
  { whoMayDecideEach }: NotifyingOfRequests,
): Promise<(one: Told) => readonly string[]> {
  const waiting = told.filter(({ to }) => to === 'eligible_approvers')
  const eligible = await listEligible(tx, waiting, whoMayDecideEach)
  const holders = async (audience: 'every_approver' | 'administrators') =>
    told.some(({ to }) => to === audience)
      ? (await Array.fromAsync(listHolders(tx, audiences[audience].scopes, null))).flat()
      : []
  const [approvers, administrators] = [await holders('every_approver'), await holders('administrators')]
  const people: Record<RequestAudience, (one: Told) => readonly string[]> = {
    requester: ({ facts }) => [facts.requester_id],
    eligible_approvers: (one) => eligible.get(one) ?? [],
    every_approver: ({ facts }) => approvers.filter((id) => id !== facts.requester_id),
    administrators: () => administrators,
  }
  return (one) => people[one.to](one)
}

async function listEligible(
  tx: Tx,
  waiting: readonly Told[],
  whoMayDecideEach: WhoMayDecideEach,
): Promise<Map<Told, readonly string[]>> {
  const eligible = new Map(waiting.map((one) => [one, [] as string[]]))
  if (waiting.length === 0) return eligible
  const asked = waiting.map(({ event }) => ({ request_id: event.subject_id, at: new Date(event.at) }))
  for await (const batch of whoMayDecideEach(tx, asked)) {
    const notified = new Set(await notifiedAmong(tx, [...new Set(batch.flat())]))
    for (const [index, one] of waiting.entries())
      for (const id of batch[index] ?? []) if (notified.has(id)) eligible.get(one)?.push(id)
  }
  return eligible
}
