import assert from 'node:assert/strict'
import { ownSessions } from './browser.ts'
import type { House, Person, Reply } from './house.ts'

/** A program that stays signed in: its session's id, and its tokens as it got them. */
export type Program = { session_id: string; tenant_id: string; token: string; refresh_token: string }

/** Where the calls of the tests come from, unless they say otherwise. A service that reads it has `TRUST_PROXY`. */
export const trustsTests = { TRUST_PROXY: '127.0.0.1' }

/** Programs that call the house. */
export function programsOf(house: Pick<House, 'call' | 'tokenOf' | 'asSuperuser'>) {
  const issue = (token: string) => house.call({ method: 'POST', url: '/v1/auth/refresh-token', token })

  /** Exchanges a refresh token, from this address. */
  const refresh = (refresh_token: string, address = '192.0.2.1'): Promise<Reply> =>
    house.call({
      method: 'POST',
      url: '/v1/auth/refresh',
      body: { refresh_token },
      headers: { 'x-forwarded-for': address },
    })

  function programWith(reply: Reply, tenant_id: string, token: string): Program {
    assert.equal(reply.status, 201, reply.text)
    return { session_id: String(reply.body.id), tenant_id, token, refresh_token: String(reply.body.refresh_token) }
  }

  /** Signs a user in, in a new program. */
  async function signIn(tenant_id: string, { user_id }: Pick<Person, 'user_id'>): Promise<Program> {
    const token = await house.tokenOf(tenant_id, user_id, new Date())
    return programWith(await issue(token), tenant_id, token)
  }

  /** Exchanges the token of a program; returns the program with its next tokens. */
  async function next(program: Program, address?: string): Promise<Program> {
    const { status, body, text } = await refresh(program.refresh_token, address)
    assert.equal(status, 200, text)
    return { ...program, token: String(body.token), refresh_token: String(body.refresh_token) }
  }

  /** The status of a read of the user's own, with this token. */
  const statusWith = async ({ token, tenant_id }: Program) =>
    (await house.call({ method: 'GET', url: ownSessions, token, tenant_id })).status

  /** Has the last use of the program's refresh token be so many seconds ago. */
  const usedAgo = ({ session_id }: Program, seconds: number) =>
    house.asSuperuser(
      'update user_session set refreshed_at = clock_timestamp() - make_interval(secs => $2) where id = $1',
      [session_id, seconds],
    )
  /** Has it be just now, however slow the machine is. */
  const usedNow = (program: Program) => usedAgo(program, -300)

  return { issue, refresh, programWith, signIn, next, statusWith, usedAgo, usedNow }
}
