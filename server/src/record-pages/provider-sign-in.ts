/** Signing in at a tenant's own provider, from a page of a record or from the console. */
import type { PageAnswer, PageRequest } from '../http/form-pages.ts'
import { isUuid } from '../kernel/id.ts'
import { wordsFor } from './language.ts'
import { consolePlace, type Return } from './page-cookies.ts'
import { problemOf } from './problem-page.ts'
import { type Deps, enter, failedInConsole, isOver } from './sign-in.ts'
import { signInPage } from './sign-in-page.ts'

/**
 * Notes in the browser that its person signs in for a page of the console, before it goes to the provider. A script of the console sends it: as with each
 * form, no other site can.
 */
export async function beginForConsole({ cookies }: Deps, { form }: PageRequest): Promise<PageAnswer> {
  const { tenant_id = '', path = '' } = form
  const place = consolePlace(path)
  const kept = place && isUuid(tenant_id) ? cookies.setReturn({ ...place, tenant_id }) : undefined
  return kept === undefined ? { status: 400, page: null } : { status: 204, page: null, cookies: [kept] }
}

/** Sends the browser to the provider of the tenant that the person named on the page before. */
export async function beginAtProvider(deps: Deps, request: PageRequest): Promise<PageAnswer> {
  const to = deps.cookies.readReturn(request.header)
  if (to?.tenant_id === undefined) return cannotGoOn(deps, request, to, 'providerFailed')
  const query = new URLSearchParams({ tenant: to.tenant_id, redirect_uri: callbackUrl(deps) })
  const answer = await request.api({ method: 'GET', url: `/v1/auth/authorize?${query}` })
  if (answer.status === 302 && answer.location !== undefined) return { status: 302, location: answer.location }
  if (answer.status >= 500) throw problemOf(answer)
  return cannotGoOn(deps, request, to, 'providerNotSet')
}

/**
 * Where a provider sends the browser back to. The sign-in must have begun on a page of this service in this browser, for this tenant: else another
 * site could sign its visitors in.
 */
export async function finishAtProvider(deps: Deps, request: PageRequest): Promise<PageAnswer> {
  const to = deps.cookies.readReturn(request.header)
  const { code, state, iss } = request.query
  const isOwn = to?.tenant_id !== undefined && typeof state === 'string' && state.startsWith(`${to.tenant_id}.`)
  if (!isOwn || typeof code !== 'string') return cannotGoOn(deps, request, to, 'providerFailed')
  const body = { code, state, redirect_uri: callbackUrl(deps), ...(typeof iss === 'string' && { iss }) }
  const answer = await request.api({ method: 'POST', url: '/v1/auth/callback', body, fromOwnPage: true })
  if (isOver(answer)) throw problemOf(answer)
  if (answer.status !== 200) return cannotGoOn(deps, request, to, 'providerFailed')
  const remembered = deps.cookies.setOrganization(to.tenant_id ?? '')
  return enter(deps, request, { place: to, answer, remembered, fromOwnPage: true })
}

/** The redirect address of these pages, which a tenant lists in its sign-in settings. */
function callbackUrl({ publicUrl }: Deps): string {
  return `${publicUrl}/sign-in/callback`
}

function cannotGoOn(
  { publicUrl }: Deps,
  request: PageRequest,
  to: Return | undefined,
  why: 'providerFailed' | 'providerNotSet',
): PageAnswer {
  if (to?.noun === 'console') return { status: 303, location: failedInConsole(publicUrl, why) }
  const words = wordsFor(request.header('accept-language'))
  if (to === undefined) throw problemOf({ ...nothing, body: { code: 'not_found', message: 'record not found' } })
  const form = { place: to, words, publicUrl, intro: words.signIn.intro, hint: to.tenant_id }
  return { status: 400, page: signInPage({ ...form, error: words.signIn[why] }) }
}

const nothing = { status: 404, location: undefined, at: new Date(0) }
