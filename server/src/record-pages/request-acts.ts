/** What the forms about a request do. Each asks the API, which alone decides whether it may be done. */
import type { PageAnswer, PageApiAnswer, PageApiCall, PageRequest } from '../http/form-pages.ts'
import { invalidInput } from '../kernel/errors.ts'
import { type Html, html } from '../kernel/html.ts'
import { newId, readUuid } from '../kernel/id.ts'
import type { RequestBody } from './bodies.ts'
import { confirmPage, type Filled, type RequestAct } from './confirm-page.ts'
import { lostRace } from './decision-parts.ts'
import { notice } from './layout.ts'
import type { Draft, Place } from './page-cookies.ts'
import { problemOf, refusalOf, refusalText } from './problem-page.ts'
import { askAgain, placeIn, readRequest } from './read-record.ts'
import { requestPage } from './request-page.ts'
import { askToSignIn, type Deps, draftOf } from './sign-in.ts'
import type { View } from './view.ts'

export const requestActs = ['approve', 'deny', 'cancel'] as const satisfies readonly RequestAct[]

const maxNote = 2_000

/** The page of a request. */
export async function showRequest(deps: Deps, request: PageRequest): Promise<PageAnswer> {
  const read = await readRequest(deps, request, placeIn(request, 'requests'))
  if ('answer' in read) return read.answer
  return { status: 200, page: requestPage(read.shown, read.view, newId()) }
}

/** The first touch: what would be done, and a form that does it. Where it cannot be done, the page of the request says why. */
export async function askToConfirm(deps: Deps, request: PageRequest, act: RequestAct): Promise<PageAnswer> {
  const place = placeIn(request, 'requests')
  const read = await readRequest(deps, request, place)
  if ('answer' in read) return read.answer
  const { view, shown } = read
  if (!isOpen(act, shown.request, view)) {
    const above = shown.request.status === 'pending' ? '' : notice(lostRace(shown.request, view))
    return { status: 200, page: requestPage(shown, view, newId(), above) }
  }
  const draft = draftOf(deps, request, place, { who: view.own.id, act })
  return { status: 200, page: confirmPage(act, shown.request, view, { key: newId(), ...draft }) }
}

function isOpen(act: RequestAct, request: RequestBody, { own }: View): boolean {
  return act === 'cancel' ? request.status === 'pending' && request.requester_id === own.id : request.may_decide
}

/** The second touch. */
export async function doConfirmed(deps: Deps, request: PageRequest, act: RequestAct): Promise<PageAnswer> {
  const place = placeIn(request, 'requests')
  const filled = filledIn(request)
  if (!deps.hasSession(request)) return over(deps, request, place, { act, ...filled })
  if (await isOfAnother(request, filled)) return showForm(deps, request, place, act, emptied)
  const isNoteMissing = act === 'deny' && filled.note.trim() === ''
  if (isNoteMissing || [...filled.note].length > maxNote) {
    return showForm(deps, request, place, act, (words) => ({
      status: 400,
      filled: { ...filled, error: isNoteMissing ? words.confirm.noteMissing : words.confirm.noteTooLong },
    }))
  }
  const answer = await request.api(callOf(act, place, filled))
  return afterwards(deps, request, { place, act, filled, answer })
}

/** Whether another person has signed in in this browser since the form was opened: then it is not theirs to send. */
export async function isOfAnother(request: PageRequest, { who }: Pick<Filled, 'who'>): Promise<boolean> {
  if (who === '') return false
  const own = await request.api({ method: 'GET', url: '/v1/users/me' })
  return own.status === 200 && own.body.id !== who
}

const emptied = ({ confirm }: View['words']): Shown => ({
  status: 409,
  filled: { key: newId(), who: '', note: '', duration: '' },
  above: notice(html`<p>${confirm.anotherPerson}</p>`, 'bad'),
})

/** The fields of a form that confirms. @throws Problem 400 for a time that no form of ours sends */
export function filledIn({ form }: PageRequest): Filled {
  const { key = '', who = '', note = '', duration = '' } = form
  if (duration !== '' && !/^[1-9]\d{0,8}$/.test(duration)) {
    throw invalidInput([{ pointer: '/duration', why: 'must be a number of seconds' }])
  }
  return { key: readUuid(key) ?? newId(), who, note: note.replaceAll('\r\n', '\n'), duration }
}

function callOf(act: RequestAct, { id }: Place, { key, note, duration }: Filled): PageApiCall {
  const url = `/v1/requests/${id}`
  if (act === 'cancel') return { method: 'DELETE', url, idempotency_key: key }
  const reasoning = note.trim() === '' ? null : note.trim()
  const time = act === 'approve' && duration !== '' ? { duration_seconds: Number(duration) } : {}
  return { method: 'POST', url: `${url}/${act}`, body: { reasoning, ...time }, idempotency_key: key }
}

type Done = { place: Place; act: RequestAct; filled: Filled; answer: PageApiAnswer }

async function afterwards(deps: Deps, request: PageRequest, { place, act, filled, answer }: Done): Promise<PageAnswer> {
  const { publicUrl, cookies } = deps
  const refusal = refusalOf(answer)
  const draft = { act, who: filled.who, note: filled.note, duration: filled.duration }
  if (answer.status < 300) {
    return { status: 303, location: `${publicUrl}/requests/${place.id}`, cookies: [cookies.clearReturn()] }
  }
  if (answer.status === 401) return over(deps, request, place, draft)
  if (refusal.code === 'sign_in_again') return askAgain(deps, request, place, refusal, draft)
  if (answer.status >= 500) throw problemOf(answer)
  if (answer.status === 409) return showOutcome(deps, request, place, refusal.code)
  return showForm(deps, request, place, act, () => ({
    status: answer.status,
    // Another key: that of a refused form would answer with the refusal again.
    filled: { ...filled, key: newId() },
    above: notice(refusalText(refusal), 'bad'),
  }))
}

/** The session is over: what was written is kept until the person has signed in. */
function over(deps: Deps, request: PageRequest, place: Place, { who, act, note, duration }: Draft): PageAnswer {
  const draft = { who, act, note, duration }
  const intro = ({ signIn }: View['words']) => (note.trim() === '' ? signIn.over : signIn.noteKept)
  return askToSignIn(deps, request, place, { status: 401, intro, draft })
}

/** Another approver was faster, or the same form was sent twice. */
async function showOutcome(deps: Deps, request: PageRequest, place: Place, code: string): Promise<PageAnswer> {
  const read = await readRequest(deps, request, place)
  if ('answer' in read) return read.answer
  const { view, shown } = read
  const isBusy = code === 'idempotency_in_progress'
  const said = isBusy ? html`<p>${view.words.confirm.busy}</p>` : lostRace(shown.request, view)
  return { status: 409, page: requestPage(shown, view, newId(), notice(said)) }
}

type Shown = { status: number; filled: Filled; above?: Html }

async function showForm(
  deps: Deps,
  request: PageRequest,
  place: Place,
  act: RequestAct,
  show: (words: View['words']) => Shown,
): Promise<PageAnswer> {
  const read = await readRequest(deps, request, place)
  if ('answer' in read) return read.answer
  const { view, shown } = read
  const { status, filled, above = '' } = show(view.words)
  // The reader may have lost the right meanwhile: then there is no form, and the page says why.
  const page = isOpen(act, shown.request, view)
    ? confirmPage(act, shown.request, view, { ...filled, who: view.own.id }, above)
    : requestPage(shown, view, newId(), above)
  return { status, page }
}

/** Reminds those who may decide. */
export async function remind(deps: Deps, request: PageRequest): Promise<PageAnswer> {
  const place = placeIn(request, 'requests')
  if (!deps.hasSession(request)) return askToSignIn(deps, request, place, { status: 401, intro: overText })
  const url = `/v1/requests/${place.id}/remind`
  const answer = await request.api({ method: 'POST', url, body: {}, idempotency_key: filledIn(request).key })
  if (answer.status < 300) return { status: 303, location: `${deps.publicUrl}/requests/${place.id}` }
  if (answer.status === 401) return askToSignIn(deps, request, place, { status: 401, intro: overText })
  if (answer.status >= 500) throw problemOf(answer)
  const read = await readRequest(deps, request, place)
  if ('answer' in read) return read.answer
  const above = notice(refusalText(refusalOf(answer)), 'bad')
  return { status: answer.status, page: requestPage(read.shown, read.view, newId(), above) }
}

/** What a page says to whom the session ended before a form was sent that has nothing to keep. */
export function overText({ signIn }: View['words']): string {
  return signIn.over
}
