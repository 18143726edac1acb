import type { PageApiAnswer, RefusedRequest } from '../http/form-pages.ts'
import { type ErrorCode, errorTable, Problem } from '../kernel/errors.ts'
import { type Html, html } from '../kernel/html.ts'
import type { Refusal } from './bodies.ts'
import { wordsFor } from './language.ts'
import { card, layout } from './layout.ts'
import { apiSentence } from './shown-text.ts'
import type { Words } from './words-en.ts'

/** The error object of an answer of the API. */
export function refusalOf({ body }: Pick<PageApiAnswer, 'body'>): Refusal {
  return body as Refusal
}

/** The same as a problem to throw. */
export function problemOf(answer: PageApiAnswer): Problem {
  const { code, message, details, notices } = refusalOf(answer)
  const known = Object.hasOwn(errorTable, code) ? (code as ErrorCode) : 'internal'
  return new Problem(known, message, { ...(details && { details }), ...(notices && { notices }) })
}

/** A refusal as it is shown: the API's sentence, and the notices of the rules that decided. */
export function refusalText({ message, notices = [] }: Refusal): Html {
  const shown = notices.map((text) => html`<li>${apiSentence(text)}</li>`)
  return html`<p>${apiSentence(message)}</p>${shown.length === 0 ? '' : html`<ul>${shown}</ul>`}`
}

/** The page for what went wrong. It reveals nothing about the record. */
export function problemPage(problem: Problem, request: RefusedRequest, publicUrl: string): Html {
  const words = wordsFor(request.header('accept-language'))
  const { title, text } = wordsAbout(problem, words, request, publicUrl)
  return layout({ title, words, tenant: undefined }, card(html`<h1 class="title">${title}</h1>`, text))
}

function wordsAbout(
  problem: Problem,
  words: Words,
  { path, id }: RefusedRequest,
  publicUrl: string,
): { title: string; text: Html } {
  const said = words.problem
  const own = `${publicUrl}${path}`
  const about: Partial<Record<ErrorCode, { title: string; text: Html }>> = {
    not_found: { title: said.notFound, text: html`<p>${said.notYours}</p>` },
    misdirected_request: {
      title: said.wrongAddress,
      text: html`<p>${said.wrongAddressDo} <a href="${own}">${own}</a></p><p>${apiSentence(problem.message)}</p>`,
    },
    forbidden: { title: said.otherSite, text: html`<p>${said.otherSiteDo}</p><p>${apiSentence(problem.message)}</p>` },
    tenant_suspended: { title: said.suspended, text: html`<p>${said.suspendedDo}</p>` },
    rate_limited: {
      title: said.busy,
      text: html`<p>${words.signIn.wait(Number(problem.details?.retry_after_seconds ?? 60))}</p>`,
    },
    unavailable: { title: said.busy, text: html`<p>${said.busyDo}</p>` },
  }
  if (problem.status >= 500 && problem.code !== 'unavailable') {
    return { title: said.failed, text: html`<p>${said.failedDo} <code>${id}</code></p>` }
  }
  const malformed = html`<p>${said.malformedDo}</p><p>${apiSentence(problem.message)}</p>`
  return about[problem.code] ?? { title: said.malformed, text: malformed }
}
