/** What the forms about a grant do. */
import type { PageAnswer, PageRequest } from '../http/form-pages.ts'
import { html } from '../kernel/html.ts'
import { newId } from '../kernel/id.ts'
import { endPage } from './confirm-page.ts'
import { grantPage } from './grant-page.ts'
import { mayEnd } from './grant-parts.ts'
import { notice } from './layout.ts'
import type { Place } from './page-cookies.ts'
import { problemOf, refusalOf, refusalText } from './problem-page.ts'
import { askAgain, placeIn, readGrant } from './read-record.ts'
import { filledIn, isOfAnother, overText } from './request-acts.ts'
import { askToSignIn, type Deps, draftOf } from './sign-in.ts'

/** The page of a grant. */
export async function showGrant(deps: Deps, request: PageRequest): Promise<PageAnswer> {
  const read = await readGrant(deps, request, placeIn(request, 'grants'))
  return 'answer' in read ? read.answer : { status: 200, page: grantPage(read.shown, read.view) }
}

/** Says what ends, with a form that ends it. */
export async function askToEnd(deps: Deps, request: PageRequest): Promise<PageAnswer> {
  const place = placeIn(request, 'grants')
  const read = await readGrant(deps, request, place)
  if ('answer' in read) return read.answer
  const { view, shown } = read
  if (!mayEnd(shown, view.own)) return { status: 200, page: grantPage(shown, view) }
  const draft = draftOf(deps, request, place, { who: view.own.id, act: 'end' })
  return { status: 200, page: endPage(shown, view, { key: newId(), ...draft }) }
}

/** Ends the access. */
export async function end(deps: Deps, request: PageRequest): Promise<PageAnswer> {
  const place = placeIn(request, 'grants')
  const { publicUrl, cookies } = deps
  const filled = filledIn(request)
  const draft = { who: filled.who, act: 'end', note: filled.note, duration: '' }
  if (!deps.hasSession(request)) return askToSignIn(deps, request, place, { status: 401, intro: overText, draft })
  if (await isOfAnother(request, filled)) return askToEnd(deps, request)
  const reason = filled.note.trim() === '' ? null : filled.note.trim()
  const url = `/v1/grants/${place.id}/revoke`
  const answer = await request.api({ method: 'POST', url, body: { reason }, idempotency_key: filled.key })
  if (answer.status < 300) {
    return { status: 303, location: `${publicUrl}/grants/${place.id}`, cookies: [cookies.clearReturn()] }
  }
  const refusal = refusalOf(answer)
  if (answer.status === 401) return askToSignIn(deps, request, place, { status: 401, intro: overText, draft })
  if (refusal.code === 'sign_in_again') return askAgain(deps, request, place, refusal, draft)
  if (answer.status >= 500) throw problemOf(answer)
  return showRefusal(deps, request, place, answer)
}

type Refused = { status: number; body: Record<string, unknown> }

async function showRefusal(deps: Deps, request: PageRequest, place: Place, refused: Refused): Promise<PageAnswer> {
  const read = await readGrant(deps, request, place)
  if ('answer' in read) return read.answer
  const { view, shown } = read
  const refusal = refusalOf(refused)
  const { alreadyEnded, busy } = view.words.confirm
  const known: Readonly<Record<string, string>> = { grant_not_live: alreadyEnded, idempotency_in_progress: busy }
  const said = known[refusal.code]
  const above = said === undefined ? notice(refusalText(refusal), 'bad') : notice(html`<p>${said}</p>`)
  return { status: refused.status, page: grantPage(shown, view, above) }
}
