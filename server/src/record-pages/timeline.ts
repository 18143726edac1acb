import { type Html, html } from '../kernel/html.ts'
import type { Comment, GrantBody, RequestBody } from './bodies.ts'
import { nameOf } from './shown-text.ts'
import type { View } from './view.ts'
import type { Words } from './words-en.ts'

type Entry = readonly [at: string, what: Html | string]

/** What happened to a request, oldest first; what is to come is last. */
export function timelineOf(
  request: RequestBody,
  { comments, grants }: { comments: readonly Comment[]; grants: readonly GrantBody[] },
  words: Words,
): Entry[] {
  const { timeline } = words
  const requester = nameOf(request.requester_name)
  const entries: Entry[] = [
    [request.created_at, timeline.requested(requester)],
    ...(request.reminded_at === null ? [] : [[request.reminded_at, timeline.reminded(requester)] as const]),
    ...comments.map(({ created_at, author_name }) => [created_at, timeline.commented(nameOf(author_name))] as const),
    ...outcomeOf(request, words),
    ...accessOf(grants, words),
  ]
  // Moments of the API are UTC and of equal length, so that their texts sort as they do.
  return entries.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
}

function outcomeOf({ status, updated_at, decided_by_name }: RequestBody, { timeline }: Words): Entry[] {
  if (status === 'pending') return []
  const by = decided_by_name === null ? undefined : nameOf(decided_by_name)
  const approved = by === undefined ? timeline.approvedByRule : timeline.approved(by)
  const what = {
    approved,
    denied: timeline.denied(by ?? html`–`),
    expired: timeline.expired,
    cancelled: timeline.cancelled,
  }
  return [[updated_at, what[status]]]
}

/** One entry for all grants that began or ended at the same moment. */
function accessOf(grants: readonly GrantBody[], { timeline }: Words): Entry[] {
  const began = new Set(grants.flatMap(({ activated_at }) => activated_at ?? []))
  const ended = new Set(grants.flatMap(({ ended_at }) => ended_at ?? []))
  const ends = new Set(grants.flatMap(({ status, expires_at }) => (status === 'active' ? (expires_at ?? []) : [])))
  return [
    ...[...began].map((at) => [at, timeline.began] as const),
    ...[...ended].map((at) => [at, timeline.ended] as const),
    ...[...ends].map((at) => [at, timeline.ends] as const),
  ]
}

/** The timeline as a list. */
export function timelineItems(entries: readonly Entry[], { clock }: View): Html[] {
  return entries.map(([at, what]) => html`<span class="when">${clock.at(at)}</span> ${what}`)
}
