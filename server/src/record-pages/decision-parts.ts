import { type Html, html } from '../kernel/html.ts'
import { duration, line } from '../kernel/plain-words.ts'
import type { Deciders, RequestBody } from './bodies.ts'
import { card, linkButton, section } from './layout.ts'
import { apiSentence, nameOf, quote } from './shown-text.ts'
import { linksOf, type View } from './view.ts'

/** How long a requester waits before they may remind again, in seconds: as the API has it. */
const remindSeconds = 600

/** Approve and Deny side by side: links, so that the first touch decides nothing. */
export function decisionBar(request: RequestBody, { words, publicUrl }: View): Html {
  const { of } = linksOf(publicUrl, 'requests', request.id)
  return html`<section class="bar"><h2>${words.decision.decide}</h2>
<div class="actions">${linkButton(of('approve'), words.decision.approve, 'primary')}${linkButton(of('deny'), words.decision.deny)}</div></section>
`
}

/** Who decided, when and why; nothing while the request waits. */
export function decisionText(request: RequestBody, view: View): Html {
  const { status, decision_reasoning, decided_by_name, duration_seconds, approved_duration_seconds: given } = request
  if (status === 'pending') return html``
  const { shorter, noteBy } = view.words.decision
  const time =
    given === null || duration_seconds === null ? '' : html` ${shorter(duration(given), duration(duration_seconds))}`
  const note =
    decision_reasoning !== null && decided_by_name !== null
      ? quote(noteBy(nameOf(decided_by_name)), decision_reasoning)
      : ''
  return card(html`<p>${outcomeOf(request, view)}${time}</p>`, note)
}

function outcomeOf(request: RequestBody, { words, clock, own }: View): Html | string {
  const { status, decided_by, decided_by_name, updated_at, break_glass } = request
  const { decision } = words
  const when = clock.when(updated_at)
  if (status === 'expired') return decision.unanswered
  if (status === 'cancelled') return decision.cancelled
  if (decided_by === own.id) return status === 'approved' ? decision.youApproved(when) : decision.youDenied(when)
  if (decided_by_name === null) return break_glass ? decision.emergency : decision.approvedByRule(when)
  const who = nameOf(decided_by_name)
  return status === 'approved' ? decision.approvedBy(who, when) : decision.deniedBy(who, when)
}

/** For who waits, or only reads: why they may not decide, who may, and what they can do meanwhile. */
export function waitingBox(request: RequestBody, deciders: Deciders | undefined, view: View, key: string): Html {
  if (request.status !== 'pending' || request.may_decide) return html``
  const { words, own } = view
  const isOwn = request.requester_id === own.id
  const why = isOwn ? words.decision.own : request.why_not === null ? '' : apiSentence(request.why_not)
  return section(
    words.decision.mayNot,
    html`<p>${why} ${deciders === undefined ? '' : whoMayDecide(deciders, words)}</p>`,
    isOwn ? requesterActions(request, view, key) : '',
  )
}

function whoMayDecide({ names, count, is_complete }: Deciders, words: View['words']): string {
  if (count === 0) return is_complete ? words.decision.nobody : ''
  const shown = names.map((name) => line(name))
  return words.decision.deciders(words.people(shown, count))
}

function requesterActions({ id, reminded_at }: RequestBody, { words, clock, publicUrl }: View, key: string): Html {
  const { of } = linksOf(publicUrl, 'requests', id)
  const { remind, cancel, reminded, remindAgain } = words.decision
  const next = reminded_at === null ? undefined : clock.after(reminded_at, remindSeconds)
  const waits = next !== undefined && !clock.isPast(next)
  const said = reminded_at === null ? '' : html`${reminded(clock.when(reminded_at))}`
  const again = waits ? html` ${remindAgain(clock.at(next))}` : ''
  const form = html`<form method="post" action="${of('remind')}"><input type="hidden" name="key" value="${key}"><button class="button">${remind}</button></form>`
  return html`${said === '' ? '' : html`<p>${said}${again}</p>`}
<div class="actions">${waits ? '' : form}${linkButton(of('cancel'), cancel)}</div>`
}

/** Says to an approver who decided too late that nothing is left to do. */
export function lostRace(request: RequestBody, { words, clock, own }: View): Html {
  const { lost } = words.decision
  const { status, decided_by, decided_by_name, updated_at } = request
  if (status === 'cancelled') return html`<p>${lost.cancelled}</p>`
  if (status === 'pending' || status === 'expired') return html`<p>${lost.expired}</p>`
  if (decided_by === own.id) return html`<p>${status === 'approved' ? lost.approvedByYou : lost.deniedByYou}</p>`
  return html`<p>${lost[status](nameOf(decided_by_name ?? '–'), clock.when(updated_at))}</p>`
}
