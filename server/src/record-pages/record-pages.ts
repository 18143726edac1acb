/** The pages that links in messages open: `/requests/{id}` and `/grants/{id}`, without script. */
import type { CursorCodec } from '../http/cursor.ts'
import type { FormPage, FormPages, PageRequest } from '../http/form-pages.ts'
import type { SessionCookie } from '../http/session-cookie.ts'
import { askToEnd, end, showGrant } from './grant-acts.ts'
import { nouns, pageCookies } from './page-cookies.ts'
import { problemPage } from './problem-page.ts'
import { beginAtProvider, beginForConsole, finishAtProvider } from './provider-sign-in.ts'
import { placeIn } from './read-record.ts'
import { askToConfirm, doConfirmed, remind, requestActs, showRequest } from './request-acts.ts'
import { type Deps, finishFactor, signIn } from './sign-in.ts'
import { contentSecurityPolicy } from './style.ts'

export type RecordPagesOptions = {
  publicUrl: string
  sessionCookie: SessionCookie
  /** Seals where a sign-in leads back to, with a key of its own. */
  codec: CursorCodec
}

/** A GET decides and changes nothing; what a POST does, the API decides. */
export function recordPages({ publicUrl, sessionCookie, codec }: RecordPagesOptions): FormPages {
  const deps: Deps = {
    publicUrl,
    cookies: pageCookies(publicUrl, codec),
    hasSession: ({ header }) => sessionCookie.read({ headers: { cookie: header('cookie') } }) !== undefined,
  }
  return {
    pages: [...requestPages(deps), ...grantPages(deps), ...signInPages(deps)],
    publicUrl,
    sessionCookie,
    contentSecurityPolicy,
    onProblem: (problem, request) => problemPage(problem, request, publicUrl),
  }
}

function requestPages(deps: Deps): FormPage[] {
  return [
    { method: 'GET', path: '/requests/:id', answer: (request) => showRequest(deps, request) },
    { method: 'POST', path: '/requests/:id/remind', answer: (request) => remind(deps, request) },
    ...requestActs.flatMap((act): FormPage[] => [
      { method: 'GET', path: `/requests/:id/${act}`, answer: (request) => askToConfirm(deps, request, act) },
      { method: 'POST', path: `/requests/:id/${act}`, answer: (request) => doConfirmed(deps, request, act) },
    ]),
  ]
}

function grantPages(deps: Deps): FormPage[] {
  return [
    { method: 'GET', path: '/grants/:id', answer: (request) => showGrant(deps, request) },
    { method: 'GET', path: '/grants/:id/end', answer: (request) => askToEnd(deps, request) },
    { method: 'POST', path: '/grants/:id/end', answer: (request) => end(deps, request) },
  ]
}

function signInPages(deps: Deps): FormPage[] {
  type Step = typeof signIn
  const step = (noun: (typeof nouns)[number], path: string, run: Step): FormPage => ({
    method: 'POST',
    path: `/${noun}/:id/${path}`,
    answer: (request: PageRequest) => run(deps, request, placeIn(request, noun)),
  })
  return [
    ...nouns.flatMap((noun) => [step(noun, 'sign-in', signIn), step(noun, 'second-factor', finishFactor)]),
    { method: 'POST', path: '/sign-in/console', answer: (request) => beginForConsole(deps, request) },
    { method: 'GET', path: '/sign-in/provider', answer: (request) => beginAtProvider(deps, request) },
    { method: 'GET', path: '/sign-in/callback', answer: (request) => finishAtProvider(deps, request) },
  ]
}
