/** Pages of HTML without script, which are clients of the API within the process. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { Problem } from '../kernel/errors.ts'
import type { Html } from '../kernel/html.ts'
import { problemOf } from './error-reply.ts'
import { requireRoom } from './in-flight.ts'
import { setRetryHeaders } from './limits.ts'
import { headerOf } from './request-header.ts'
import type { SessionCookie } from './session-cookie.ts'

/** A call of the API on behalf of the browser that requested the page. */
export type PageApiCall = {
  method: 'GET' | 'POST' | 'DELETE'
  url: string
  body?: object
  /** The token of a sign-in that this request of the browser finished. */
  token?: string
  tenant_id?: string
  idempotency_key?: string
  /** The page has made sure that no other site sent the browser here; the browser itself cannot say so after a redirect. */
  fromOwnPage?: true
}

export type PageApiAnswer = {
  status: number
  /** An empty object where the body is not JSON. */
  body: Record<string, unknown>
  location: string | undefined
  /** When it was answered, by the header `Date`. */
  at: Date
}

/** A request of a browser for a page. */
export type PageRequest = {
  params: Readonly<Record<string, string>>
  query: Readonly<Record<string, unknown>>
  /** The fields of the form; empty for a GET. */
  form: Readonly<Record<string, string>>
  header(name: string): string | undefined
  /** Calls the API with the browser's cookies. The cookies that the API sets reach the browser with the page. */
  api(call: PageApiCall): Promise<PageApiAnswer>
}

/** A request that was not answered, for the page that says so. */
export type RefusedRequest = Pick<PageRequest, 'header'> & { path: string; id: string }

/** A page, or with `location` a redirect, or `null` for the script of a page. */
export type PageAnswer = { status: number; cookies?: readonly string[] } & (
  | { page: Html | null }
  | { location: string }
)

export type FormPage = {
  method: 'GET' | 'POST'
  path: `/${string}`
  answer(request: PageRequest): Promise<PageAnswer>
}

export type FormPages = {
  pages: readonly FormPage[]
  publicUrl: string
  sessionCookie: SessionCookie
  contentSecurityPolicy: string
  /** The page for what goes wrong before or in `answer`. */
  onProblem(problem: Problem, request: RefusedRequest): Html
}

/** A note of 2,000 characters in the encoding of a form, and some more. */
const formLimit = 64 * 1024

/**
 * Serves pages that are clients of the API: what a page may read or change, the API says, with its limits and its audit log. Forms are taken
 * from pages of this service alone, by the rule of the session's cookie, also where the browser has none yet: another site must not sign
 * its visitors in.
 */
export function serveFormPages(server: FastifyInstance, options: FormPages): void {
  const { pages, publicUrl, sessionCookie, contentSecurityPolicy, onProblem } = options
  const headers = {
    'content-security-policy': contentSecurityPolicy,
    'cache-control': 'no-store',
    // Without a referrer, browsers that send no `Sec-Fetch-Site` would call the origin of a form `null`.
    'referrer-policy': 'same-origin',
    'x-robots-tag': 'noindex',
  }
  const ownName = new URL(publicUrl).hostname
  for (const { method, path, answer } of pages) {
    server.route({
      method: method as HTTPMethods,
      url: path,
      bodyLimit: formLimit,
      config: { bodyType: 'form' },
      onRequest: async (request, reply) => {
        requireRoom(server)
        sessionCookie.requireHost(request)
        // This machine has several names, and a browser's cookies are for one of them.
        if (method === 'GET' && request.hostname !== ownName) return reply.redirect(`${publicUrl}${request.url}`, 302)
        if (method === 'POST') sessionCookie.requireOwnOrigin(request)
      },
      errorHandler(thrown, request, reply) {
        const problem = problemOf(thrown)
        server.logFault(request, thrown)
        if (problem.status === 429) setRetryHeaders(reply, problem)
        if (problem.status === 503) reply.header('retry-after', '1')
        return sendPage(reply.code(problem.status).headers(headers), onProblem(problem, refused(request)))
      },
      handler: async (request, reply) => {
        const cookies = new Set<string>()
        const answered = await answer({
          params: request.params as Record<string, string>,
          query: request.query as Record<string, unknown>,
          form: (request.body ?? {}) as Record<string, string>,
          header: (name) => headerOf(request, name),
          api: (call) => callApi(server, request, call, cookies),
        })
        reply.headers(headers)
        // Of a cookie that is set twice a browser keeps the last.
        const set = [...cookies, ...(answered.cookies ?? [])]
        if (set.length > 0) reply.header('set-cookie', set)
        if ('location' in answered) return reply.redirect(answered.location, answered.status)
        reply.code(answered.status)
        return answered.page === null ? reply.send() : sendPage(reply, answered.page)
      },
    })
  }
}

function refused(request: FastifyRequest): RefusedRequest {
  return { header: (name) => headerOf(request, name), path: request.url.split('?', 1)[0] ?? '', id: request.id }
}

function sendPage(reply: FastifyReply, page: Html): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(page.text)
}

/** What the API learns of the browser, as the browser and the proxies before it say. No other credential than the cookie is passed on. */
const passedOn = [
  ...['host', 'cookie', 'user-agent', 'accept-language', 'origin', 'forwarded'],
  ...['sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest'],
  ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port'],
]

async function callApi(
  server: FastifyInstance,
  request: FastifyRequest,
  call: PageApiCall,
  cookies: Set<string>,
): Promise<PageApiAnswer> {
  const { method, url, body } = call
  const { remoteAddress } = request.raw.socket
  const reply = await server
    .inject({
      method,
      url,
      headers: headersFor(request, call),
      ...(remoteAddress !== undefined && { remoteAddress }),
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    })
    .catch(hideStop)
  for (const cookie of [reply.headers['set-cookie'] ?? []].flat()) cookies.add(cookie)
  return {
    status: reply.statusCode,
    body: isJson(reply.headers['content-type']) && reply.payload !== '' ? reply.json<Record<string, unknown>>() : {},
    location: reply.headers.location,
    at: new Date(String(reply.headers.date)),
  }
}

function headersFor({ headers, id }: FastifyRequest, call: PageApiCall): Record<string, string | string[]> {
  const { body, token, tenant_id, idempotency_key, fromOwnPage } = call
  const passed = passedOn.flatMap((name) => {
    const value = headers[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    ...Object.fromEntries(passed),
    'x-request-id': id,
    // A browser’s own `Accept` says no more; the beginning of a sign-in wants to see a page.
    accept: 'text/html, application/json',
    ...(fromOwnPage && { 'sec-fetch-site': 'same-origin' }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(tenant_id !== undefined && { 'x-tenant-id': tenant_id }),
    ...(idempotency_key !== undefined && { 'idempotency-key': idempotency_key }),
  }
}

function isJson(type: unknown): boolean {
  return String(type).startsWith('application/json')
}

/** A server that shuts down begins no further call. */
function hideStop(error: FastifyError): never {
  if (error.code !== 'FST_ERR_REOPENED_CLOSE_SERVER') throw error
  throw new Problem('unavailable', 'the service is stopping; try again in a moment')
}
