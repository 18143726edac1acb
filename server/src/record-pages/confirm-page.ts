import { type Html, html } from '../kernel/html.ts'
import { duration } from '../kernel/plain-words.ts'
import { badges, icon, requestStates } from './badge.ts'
import type { GrantBody, RequestBody } from './bodies.ts'
import { grantSentence } from './grant-parts.ts'
import { card, layout, linkButton } from './layout.ts'
import { requestHead } from './request-page.ts'
import { nameOf } from './shown-text.ts'
import { linksOf, sentenceOf, type View } from './view.ts'

export type RequestAct = 'approve' | 'deny' | 'cancel'

/** What a form has, on the first visit or after a refusal. */
export type Filled = {
  /** Names the deed, so that a second click does nothing more. */
  key: string
  /** The person who opened the form. */
  who: string
  note: string
  duration: string
  /** Why the form was not accepted. */
  error?: Html | string | undefined
}

/** Shorter times that an approver is offered, in seconds: as the console offers them. */
const shorterTimes = [900, 1_800, 3_600, 7_200, 14_400, 28_800]

/** The second of two steps: it says what happens, and its form does it. */
export function confirmPage(
  act: RequestAct,
  request: RequestBody,
  view: View,
  filled: Filled,
  above: Html | '' = '',
): Html {
  const { words, own, publicUrl } = view
  const links = linksOf(publicUrl, 'requests', request.id)
  return layout({ title: words.confirm[act], words, tenant: own.tenant }, [
    html`${above}`,
    html`<h1 class="title">${words.confirm[act]}</h1>`,
    card(
      badges(requestStates(request, []), words),
      html`<p class="sentence">${sentenceOf(request, words)}</p>`,
      ...requestHead(request, view),
    ),
    form(links.of(act), filled, [
      ...fieldsOf(act, request, view, filled),
      html`<div class="actions">${buttonOf(act, request, view)}${linkButton(links.page, words.back)}</div>`,
    ]),
  ])
}

function form(action: string, { key, who }: Filled, parts: readonly Html[]): Html {
  return html`<form class="card" method="post" action="${action}">
<input type="hidden" name="key" value="${key}">
<input type="hidden" name="who" value="${who}">
${parts}</form>
`
}

function fieldsOf(act: RequestAct, request: RequestBody, view: View, filled: Filled): Html[] {
  const { words } = view
  const who = nameOf(request.requester_name)
  if (act === 'cancel') return [html`<p>${words.confirm.cancelMeans}</p>`]
  const label = act === 'deny' ? words.note : words.confirm.noteOptional
  const note = noteField({ label, hint: words.confirm.noteShown(who), required: act === 'deny', filled })
  return act === 'approve' ? [timeField(request, view, filled), note] : [note]
}

function buttonOf(act: RequestAct, request: RequestBody, { words }: View): Html {
  const { approveButton, approveAll, denyButton, cancelButton } = words.confirm
  const { duration_seconds } = request
  // With a choice of times, the button cannot name the one that is chosen.
  const approve =
    duration_seconds === null || timesFor(request).length > 0 ? approveButton : approveAll(duration(duration_seconds))
  if (act === 'approve') return html`<button class="button primary">${approve}</button>`
  return html`<button class="button danger">${act === 'deny' ? denyButton : cancelButton}</button>`
}

/** The times that an approver is offered instead of the requested one. */
export function timesFor({ duration_seconds }: Pick<RequestBody, 'duration_seconds'>): number[] {
  return duration_seconds === null ? [] : shorterTimes.filter((seconds) => seconds < duration_seconds)
}

function timeField(request: RequestBody, { words }: View, { duration: chosen }: Filled): Html {
  const { duration_seconds } = request
  const shorter = timesFor(request)
  if (duration_seconds === null || shorter.length === 0) return html``
  const options = shorter
    .map((seconds) => option(String(seconds), duration(seconds), chosen))
    .concat(option('', words.confirm.asRequested(duration(duration_seconds)), chosen))
    .reverse()
  return html`<div class="field"><label for="duration">${words.confirm.forTime}</label>
<select id="duration" name="duration">${options}</select></div>
`
}

function option(value: string, label: string, chosen: string): Html {
  return value === chosen
    ? html`<option value="${value}" selected>${label}</option>`
    : html`<option value="${value}">${label}</option>`
}

type NoteField = { label: string; hint: Html | string; required: boolean; filled: Filled }

function noteField({ label, hint, required, filled: { note, error } }: NoteField): Html {
  const below =
    error === undefined
      ? html`<p class="hint" id="note-hint">${hint}</p>`
      : html`<p class="error" id="note-hint" role="alert">${icon('alert')}<span>${error}</span></p>`
  const state = html`${required ? html` required` : ''}${error === undefined ? '' : html` aria-invalid="true"`}`
  return html`<div class="field"><label for="note">${label}</label>
<textarea id="note" name="note" rows="3" maxlength="2000" dir="auto" aria-describedby="note-hint"${state}>
${note}</textarea>${below}</div>
`
}

/** Confirms that access ends. */
export function endPage(grant: GrantBody, view: View, filled: Filled, above: Html | '' = ''): Html {
  const { words, own, publicUrl } = view
  const links = linksOf(publicUrl, 'grants', grant.id)
  const who = nameOf(grant.user_name)
  const { end, endMeans, endMeansYou, endButton, noteOptional, noteShown } = words.confirm
  const isOwn = grant.user_id === own.id
  return layout({ title: end, words, tenant: own.tenant }, [
    html`${above}`,
    html`<h1 class="title">${end}</h1>`,
    card(
      html`<p class="sentence">${grantSentence(grant, view)}</p>`,
      html`<p>${isOwn ? endMeansYou : endMeans(who)}</p>`,
    ),
    form(links.of('end'), filled, [
      noteField({ label: noteOptional, hint: isOwn ? '' : noteShown(who), required: false, filled }),
      html`<div class="actions"><button class="button danger">${endButton}</button>${linkButton(links.page, words.back)}</div>`,
    ]),
  ])
}
