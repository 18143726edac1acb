/** What a page reads of the API before it is made. */
import type { PageAnswer, PageApiAnswer, PageRequest } from '../http/form-pages.ts'
import { notFound } from '../kernel/errors.ts'
import { readUuid } from '../kernel/id.ts'
import type { Comment, Deciders, GrantBody, Own, Page, Refusal, RequestBody } from './bodies.ts'
import { wordsFor } from './language.ts'
import { clockFor } from './moments.ts'
import type { Draft, Noun, Place } from './page-cookies.ts'
import { problemOf, refusalOf } from './problem-page.ts'
import type { ShownRequest } from './request-page.ts'
import { askForFactor, askToSignIn, type Deps } from './sign-in.ts'
import type { View } from './view.ts'

/** As many grants of a request as its page shows. */
const maxGrants = 20
const maxComments = 50

/** What a page is made from, or the page in its place. */
export type Read<Shown> = { view: View; shown: Shown } | { answer: PageAnswer }

/** The record of the path. @throws Problem 404 for what is no id */
export function placeIn(request: PageRequest, noun: Noun): Place {
  const id = readUuid(request.params.id ?? '')
  if (id === undefined) throw notFound('record')
  return { noun, id }
}

/** The request, as far as its reader may see it. */
export async function readRequest(deps: Deps, request: PageRequest, place: Place): Promise<Read<ShownRequest>> {
  const read = await readAs<RequestBody>(deps, request, place)
  if ('answer' in read) return read
  const { view, shown } = read
  const { id } = place
  const [comments, grants, deciders] = await Promise.all([
    get<Page<Comment>>(request, `/v1/requests/${id}/comments?limit=${maxComments}`),
    shown.status === 'approved'
      ? get<Page<GrantBody>>(request, `/v1/grants?request_id=${id}&limit=${maxGrants}`)
      : { data: [], has_more: false },
    shown.status === 'pending' && !shown.may_decide ? get<Deciders>(request, `/v1/requests/${id}/deciders`) : undefined,
  ])
  // Of several grants the one that was made first is the first.
  return { view, shown: { request: shown, comments, grants: { ...grants, data: grants.data.toReversed() }, deciders } }
}

/** The grant, as far as its reader may see it. */
export function readGrant(deps: Deps, request: PageRequest, place: Place): Promise<Read<GrantBody>> {
  return readAs<GrantBody>(deps, request, place)
}

async function readAs<Body>(deps: Deps, request: PageRequest, place: Place): Promise<Read<Body>> {
  if (!deps.hasSession(request)) return { answer: askNewcomer(deps, request, place) }
  const own = await request.api({ method: 'GET', url: '/v1/users/me' })
  if (own.status === 401) return { answer: askNewcomer(deps, request, place) }
  const refusal = refusalOf(own)
  if (refusal.code === 'sign_in_again') return { answer: askAgain(deps, request, place, refusal) }
  if (own.status !== 200) throw problemOf(own)
  const view = viewOf(deps, request, own)
  return { view, shown: await get<Body>(request, `/v1/${place.noun}/${place.id}`) }
}

function viewOf({ publicUrl }: Deps, request: PageRequest, { body, at }: PageApiAnswer): View {
  const own = body as unknown as Own
  const words = wordsFor(request.header('accept-language'), own)
  return { words, own, publicUrl, clock: clockFor(own.preferences, words, at) }
}

/** @throws Problem for any answer but 200 */
async function get<Body>(request: PageRequest, url: string): Promise<Body> {
  const answer = await request.api({ method: 'GET', url })
  if (answer.status !== 200) throw problemOf(answer)
  return answer.body as unknown as Body
}

/** A page for a browser without a session is an ordinary page: programs open links of mails, and take an error for a broken one. */
function askNewcomer(deps: Deps, request: PageRequest, place: Place): PageAnswer {
  return askToSignIn(deps, request, place, { status: 200, intro: ({ signIn }) => signIn.intro })
}

/** For a sign-in that is too old, or lacks the second factor: then another sign-in of the same kind would be refused again. */
export function askAgain(
  deps: Deps,
  request: PageRequest,
  place: Place,
  { details }: Pick<Refusal, 'details'>,
  draft?: Draft,
): PageAnswer {
  if (details?.acr === 'mfa') return askForFactor(deps, request, place, draft)
  const intro = ({ signIn }: View['words']) => signIn.again
  return askToSignIn(deps, request, place, { status: 403, intro, ...(draft && { draft }) })
}
