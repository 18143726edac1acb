import assert from 'node:assert/strict'
import { newId } from '../../src/kernel/id.ts'
import { makeRefreshToken } from '../../src/sessions/refresh-token.ts'
import { makeSessionSecret } from '../../src/sessions/session-secret.ts'
import type { openCanaryRun } from './canary-run.ts'

type CanaryRun = Awaited<ReturnType<typeof openCanaryRun>>

/** Gives a browser the session of a token, then sends the cookie correctly and incorrectly. `signsOut`: at the end, the session ends. */
export async function signInToBrowser(run: CanaryRun, token: string, { signsOut }: { signsOut: boolean }) {
  const { secrets, send, sallyport } = run
  const fromPage = { origin: sallyport.base_url }
  const bearer = { ...fromPage, authorization: `Bearer ${token}` }
  const shown = (_: string, headers: Headers) => plantCookie(run, String(headers.get('set-cookie')))
  const begun = await send('POST', '/v1/auth/session', { headers: bearer, shown })
  assert.equal(begun.status, 201, JSON.stringify(begun.body))
  const [pair = ''] = String(begun.headers.get('set-cookie')).split(';')
  assert.equal((await send('POST', '/v1/auth/session', { headers: { ...bearer, cookie: pair } })).status, 401)
  const withCookie = (cookie: string, headers = {}) => ({ headers: { ...fromPage, cookie, ...headers } })
  assert.equal((await send('GET', '/v1/users/me/sessions', withCookie(pair))).status, 200)
  const elsewhere = { origin: 'https://evil.example' }
  assert.equal((await send('DELETE', '/v1/users/me/sessions', withCookie(pair, elsewhere))).status, 403)
  for (const wrong of [`${pair}x`, `${pair}; ${pair}`, `${pair}; x=${secrets.plant('another cookie')}`]) {
    await send('GET', '/v1/users/me/sessions', withCookie(wrong))
  }
  if (signsOut) assert.equal((await send('POST', '/v1/auth/logout', withCookie(pair))).status, 200)
}

/** Gives a program the session of a token, then uses its refresh tokens correctly and incorrectly, until the session ends. */
export async function refreshInProgram(run: CanaryRun, token: string) {
  const { secrets, send, plantToken } = run
  const shown = (text: string) => plantRefreshToken(run, text)
  const issued = await send('POST', '/v1/auth/refresh-token', { headers: { authorization: `Bearer ${token}` }, shown })
  assert.equal(issued.status, 201, JSON.stringify(issued.body))
  const { refresh_token } = issued.body
  const use = (text: unknown) =>
    send('POST', '/v1/auth/refresh', {
      body: { refresh_token: text },
      shown: (reply) => [...plantToken(reply), ...plantRefreshToken(run, reply)],
    })
  const [first, repeated] = await Promise.all([use(refresh_token), use(refresh_token)])
  assert.deepEqual([first.status, repeated.status], [200, 200])
  await use(secrets.plant('a strange refresh token', makeRefreshToken(newId(), newId()).text))
  assert.equal((await use(first.body.refresh_token)).status, 200)
  assert.equal((await use(refresh_token)).status, 401)
}

/** Registers a refresh token, and its secret parts as text and as the bytes that they stand for. */
export function plantRefreshToken({ secrets }: CanaryRun, text: string): string[] {
  const value = String((JSON.parse(text) as { refresh_token: string }).refresh_token)
  const bytes = Buffer.from(value.slice(4), 'base64url')
  secrets.plant('secret of a family, in hexadecimal', bytes.subarray(32, 64).toString('hex'))
  secrets.plant('secret of a refresh token, in hexadecimal', bytes.subarray(64).toString('hex'))
  return [secrets.plant('refresh token', value), secrets.plant('secrets of a refresh token', value.slice(47))]
}

/** Registers the cookie’s value, and its secret part as text and as the bytes that it stands for. */
export function plantCookie({ secrets }: CanaryRun, header: string): string[] {
  const value = /=([\w-]{86});/.exec(header)?.[1]
  assert.ok(value !== undefined, header)
  secrets.plant('secret of a cookie, in hexadecimal', Buffer.from(value, 'base64url').subarray(32).toString('hex'))
  return [secrets.plant('cookie', value), secrets.plant('secret of a cookie', value.slice(43))]
}

/** Sends a cookie that was never given, and a logout token that no provider made. */
export async function sendStrangeSessions({ secrets, send, sallyport, inTenant }: CanaryRun) {
  const { port } = new URL(sallyport.base_url)
  const value = secrets.plant('a strange cookie', makeSessionSecret(inTenant['x-tenant-id'], newId()).text)
  const cookie = await send('GET', '/v1/users/me/sessions', { headers: { cookie: `sallyport-${port}=${value}` } })
  const part = (claims: object) => Buffer.from(JSON.stringify(claims)).toString('base64url')
  const claims = { iss: secrets.plant('a strange issuer'), jti: secrets.plant('a strange token’s id'), sub: 'x' }
  const signature = secrets.plant('a strange signature')
  const form = new URLSearchParams({ logout_token: `${part({ typ: 'logout+jwt' })}.${part(claims)}.${signature}` })
  const logout = await send('POST', '/v1/auth/back-channel-logout/global', { body: form })
  return [cookie.status, logout.status]
}
