import assert from 'node:assert/strict'
import type { Call, House, Reply } from './house.ts'

/** The public URL of the services whose tests use browsers, unless a test is about that. */
export const publicUrl = 'https://sallyport.example.com'

type More = Pick<Call, 'body' | 'tenant_id' | 'token' | 'api_key' | 'headers'>

/** A browser that stays signed in: its session's id, and its cookie as it sends it. */
export type Browser = {
  session_id: string
  /** A token of the same session. */
  token: string
  cookie: string
  /** Sends a request as a page of the service does. */
  send(method: string, url: string, more?: More): Promise<Reply>
  /** The status of a read and, where that succeeds, of nothing else: whether the session is alive. */
  status(): Promise<number>
}

/** Where a person's own records are: a read that every user may make. */
export const ownSessions = '/v1/users/me/sessions'

/** The headers that a browser adds to a request of a page of the service. */
export function headersOfPage(url = publicUrl): { host: string; origin: string } {
  const { host, origin } = new URL(url)
  return { host, origin }
}

/** Browsers that call the house by its public URL. */
export function browsersOf(house: Pick<House, 'call' | 'tokenOf'>, url = publicUrl) {
  const page = headersOfPage(url)

  const start = (token: string, headers: Record<string, string> = {}, more: More = {}) =>
    house.call({ method: 'POST', url: '/v1/auth/session', token, ...more, headers: { ...page, ...headers } })

  function browserWith(reply: Reply, token: string): Browser {
    assert.equal(reply.status, 201, reply.text)
    const cookie = String(cookieSetBy(reply)).split(';')[0] ?? ''
    const send: Browser['send'] = (method, path, { headers, ...more } = {}) =>
      house.call({ method, url: path, ...more, headers: { ...page, cookie, ...headers } })
    const status = async () => (await send('GET', ownSessions)).status
    return { session_id: String(reply.body.id), token, cookie, send, status }
  }

  /** Signs a user in, in a new browser or in one that has this cookie. */
  async function signIn(tenant_id: string, user_id: string, cookie?: string): Promise<Browser> {
    const token = await house.tokenOf(tenant_id, user_id, new Date())
    return browserWith(await start(token, cookie === undefined ? {} : { cookie }), token)
  }

  return { page, start, browserWith, signIn }
}

/** The header `Set-Cookie` of an answer; undefined where there is none. */
export function cookieSetBy({ headers }: Reply): string | undefined {
  const set = [headers['set-cookie'] ?? []].flat()
  assert.ok(set.length <= 1, `${set.length} cookies are set`)
  return set[0] as string | undefined
}

/** The session that a token names. */
export function sessionOf(token: string): string {
  const { sid } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sid: string }
  return sid
}
