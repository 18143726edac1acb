/** Signing in without script: the token of a sign-in stays in this process, and the browser gets a session's cookie. */
import type { PageAnswer, PageApiAnswer, PageRequest } from '../http/form-pages.ts'
import { mailDomainOf } from '../kernel/email-address.ts'
import { isUuid } from '../kernel/id.ts'
import { wordsFor } from './language.ts'
import type { Draft, PageCookies, Place, Return } from './page-cookies.ts'
import { problemOf, refusalOf } from './problem-page.ts'
import { factorNeededPage, factorPage, providerPage, type SignInForm, signInPage } from './sign-in-page.ts'
import type { Words } from './words-en.ts'

/** What these pages are made with. */
export type Deps = {
  publicUrl: string
  cookies: PageCookies
  /** Whether the browser sends a session’s cookie, of a session that lives or not. Without one there is no call to make. */
  hasSession(request: PageRequest): boolean
}

type Asking = {
  status: number
  intro: (words: Words) => string
  draft?: Draft
}

/** Asks who the reader is, before anything is said about the record. A draft is kept in the browser meanwhile. */
export function askToSignIn(deps: Deps, request: PageRequest, place: Place, asking: Asking): PageAnswer {
  const { publicUrl, cookies } = deps
  const words = wordsFor(request.header('accept-language'))
  const { draft, status } = asking
  const kept = draft === undefined ? undefined : cookies.setReturn({ ...place, draft })
  const isLost = draft !== undefined && kept === undefined
  const form: SignInForm = { place, words, publicUrl, intro: asking.intro(words), hint: hintIn(request.query.t) }
  return {
    status,
    page: signInPage(isLost ? { ...form, intro: words.signIn.noteNotKept, lostNote: draft.note } : form),
    ...(kept !== undefined && { cookies: [kept] }),
  }
}

/** Leads to the console, where a person whose role needs a second factor sets one up. A draft is kept in the browser meanwhile. */
export function askForFactor(deps: Deps, request: PageRequest, place: Place, draft?: Draft): PageAnswer {
  const { publicUrl, cookies } = deps
  const words = wordsFor(request.header('accept-language'))
  const kept = draft === undefined ? undefined : cookies.setReturn({ ...place, draft })
  return {
    status: 403,
    page: factorNeededPage({ place, words, publicUrl, lostNote: draft?.note }),
    ...(kept !== undefined && { cookies: [kept] }),
  }
}

/** The organization that a link or a form names, if it has the form of an id or a short name. */
function hintIn(text: unknown): string | undefined {
  return typeof text === 'string' && /^[A-Za-z\d-]{1,63}$/.test(text) ? text : undefined
}

type Tenant = { tenant_id: string; sign_in: 'local' | 'provider' | undefined }
type Found = Tenant | { error: string }

/** Signs in with what the form has, or says what is missing. */
export async function signIn(deps: Deps, request: PageRequest, place: Place): Promise<PageAnswer> {
  const { publicUrl, cookies } = deps
  const { email = '', password = '', organization = '', t } = request.form
  const words = wordsFor(request.header('accept-language'))
  const form = { place, words, publicUrl, email, organization, hint: hintIn(t), intro: words.signIn.intro }
  const refuse = (status: number, error: string, asksOrganization = organization !== ''): PageAnswer => ({
    status,
    page: signInPage({ ...form, error, asksOrganization }),
  })
  const found = await findTenant(deps, request, { email: email.trim(), organization: organization.trim(), words })
  if ('error' in found) return refuse(400, found.error, true)
  const { tenant_id } = found
  if (password === '') {
    if (found.sign_in === 'local') return refuse(400, words.signIn.passphraseMissing)
    const to = { ...place, tenant_id, draft: keptDraft(deps, request, place) }
    const kept = cookies.setReturn(to) ?? cookies.setReturn({ ...place, tenant_id }) ?? ''
    return { status: 200, page: providerPage(form), cookies: [kept] }
  }
  const answer = await request.api({
    ...{ method: 'POST', url: '/v1/auth/login', tenant_id },
    body: { email: email.trim(), password },
  })
  const remembered = cookies.setOrganization(tenant_id)
  if (answer.status === 200) return enter(deps, request, { place, answer, remembered })
  const { code, details = {} } = refusalOf(answer)
  if (code === 'second_factor_required') {
    const { challenge, methods } = details as { challenge: string; methods: string[] }
    return { status: 200, page: factorPage({ ...form, challenge, methods }), cookies: [remembered] }
  }
  if (answer.status === 429) return refuse(429, waitOf(answer, words))
  if (isOver(answer)) throw problemOf(answer)
  return refuse(401, words.signIn.wrong, true)
}

/** The tenant that the person names, else the one of the link, of the last sign-in here, or of the address's domain. */
async function findTenant(
  { cookies }: Deps,
  request: PageRequest,
  typed: { email: string; organization: string; words: Words },
): Promise<Found> {
  const { email, organization, words } = typed
  const named =
    organization === '' ? (hintIn(request.form.t) ?? cookies.readOrganization(request.header)) : organization
  if (named !== undefined && isUuid(named.toLowerCase())) return { tenant_id: named.toLowerCase(), sign_in: undefined }
  const domain = email.includes('@') ? mailDomainOf(email) : undefined
  if (named === undefined && domain === undefined) return { error: words.signIn.emailMissing }
  const query = new URLSearchParams(named === undefined ? { domain: domain ?? '' } : { slug: named })
  const answer = await request.api({ method: 'GET', url: `/v1/auth/discovery?${query}` })
  if (answer.status === 200) return answer.body as unknown as Tenant
  if (answer.status === 429) return { error: waitOf(answer, words) }
  if (answer.status >= 500) throw problemOf(answer)
  return { error: named === undefined ? words.signIn.emailMissing : words.signIn.organizationWrong }
}

/** Finishes a sign-in with a code. */
export async function finishFactor(deps: Deps, request: PageRequest, place: Place): Promise<PageAnswer> {
  const { publicUrl } = deps
  const { challenge = '', methods = '', code = '' } = request.form
  const words = wordsFor(request.header('accept-language'))
  const text = code.replaceAll(/\s/g, '')
  const proof = /^\d{6}$/.test(text) ? { totp: text } : { recovery_code: code.trim() }
  const answer = await request.api({ method: 'POST', url: '/v1/auth/second-factor', body: { challenge, ...proof } })
  if (answer.status === 200) return enter(deps, request, { place, answer })
  if (isOver(answer)) throw problemOf(answer)
  const error = answer.status === 429 ? waitOf(answer, words) : words.signIn.factorWrong
  const form = { place, words, publicUrl, challenge, methods: methods.split(' '), error }
  return { status: answer.status === 429 ? 429 : 401, page: factorPage(form) }
}

type Entering = { place: Place | Return; answer: PageApiAnswer; remembered?: string; fromOwnPage?: true }

/** Gives the browser a session, and leads it to what it wanted to see, or to what its person was about to send. */
export async function enter(deps: Deps, request: PageRequest, entering: Entering): Promise<PageAnswer> {
  const { publicUrl, cookies } = deps
  const { place, answer, remembered, fromOwnPage } = entering
  const token = String(answer.body.token)
  const held = await request.api({
    method: 'POST',
    url: '/v1/auth/session',
    token,
    ...(fromOwnPage && { fromOwnPage }),
  })
  if (isOver(held)) throw problemOf(held)
  if (held.status !== 201) {
    if (place.noun === 'console') return { status: 303, location: failedInConsole(publicUrl, 'providerFailed') }
    const words = wordsFor(request.header('accept-language'))
    const form = { place, words, publicUrl, intro: words.signIn.intro, error: refusalOf(held).message }
    return { status: held.status, page: signInPage(form) }
  }
  const draft = keptDraft(deps, request, place)
  const page = `${publicUrl}/${place.noun}/${place.id}`
  const again = draft && cookies.setReturn({ ...place, draft })
  return {
    status: 303,
    location: again === undefined || draft === undefined ? page : `${page}/${draft.act}`,
    cookies: [again ?? cookies.clearReturn(), ...(remembered === undefined ? [] : [remembered])],
  }
}

/** What this person was about to send by this form of the record; empty where they were not, or another person was. */
export function draftOf(deps: Deps, request: PageRequest, place: Place, { who, act }: Pick<Draft, 'who' | 'act'>) {
  const draft = keptDraft(deps, request, place)
  const isTheirs = draft?.act === act && draft.who === who
  return { who, note: isTheirs ? draft.note : '', duration: isTheirs ? draft.duration : '' }
}

/** What was about to be sent for this record. */
function keptDraft({ cookies }: Deps, request: PageRequest, { noun, id }: Place | Return): Draft | undefined {
  const to = cookies.readReturn(request.header)
  return to?.noun === noun && to.id === id ? to.draft : undefined
}

/** Whether no other try of the person helps now: the service failed, or the operator suspended the tenant. */
export function isOver(answer: PageApiAnswer): boolean {
  return answer.status >= 500 || refusalOf(answer).code === 'tenant_suspended'
}

function waitOf(answer: PageApiAnswer, words: Words): string {
  return words.signIn.wait(Number(refusalOf(answer).details?.retry_after_seconds ?? 60))
}

/** The sign-in of the console, which says there that the provider did not sign the person in. */
export const failedInConsole = (publicUrl: string, why: 'providerFailed' | 'providerNotSet'): string =>
  `${publicUrl}/console/?sign-in=${why === 'providerFailed' ? 'failed' : 'not-set'}`
