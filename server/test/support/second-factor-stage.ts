import assert from 'node:assert/strict'
import type { Environment } from '../../src/config/variables.ts'
import { newId } from '../../src/kernel/id.ts'
import { cheapPassword, type House, openHouse, type Reply, type TestTenant, type Through } from './house.ts'
import { type SoftwareAuthenticator, softwareAuthenticator } from './software-authenticator.ts'
import { type TotpApp, totpApp } from './totp-app.ts'

/** Where browsers make passkeys without https. */
export const origin = 'http://localhost:8080'

/** A local user with a password. */
export type Member = { id: string; email: string; tenant_id: string }
/** What the answer `second_factor_required` says. */
export type Challenge = { challenge: string; expires_in: number; methods: string[]; passkey?: Record<string, unknown> }
/** A user who signs in with codes of an app. */
export type AppUser = { user: Member; token: string; factor_id: string; app: TotpApp; codes: string[] }

export const factorsUrl = '/v1/users/me/second-factors'
export const password = cheapPassword.text

/** The service at an address where passkeys are possible, and the steps of setting up a second factor and signing in with it. */
export async function openFactorStage(env: Environment = {}, through?: Through) {
  const house = await openHouse({ PUBLIC_URL: origin, ...env }, through)
  return { house, ...membersOf(house), ...stepsOf(house) }
}

function membersOf(house: House) {
  /** A local user of the tenant. */
  async function member({ tenant_id }: TestTenant, roles: readonly string[] = ['user']): Promise<Member> {
    const [id, email] = [newId(), `${newId()}@example.com`]
    await house.asSuperuser(
      `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
        values ($1, $2, $3, $3, 'Member', 'local')`,
      [tenant_id, id, email],
    )
    await house.asSuperuser('insert into user_password (tenant_id, user_id, hash) values ($1, $2, $3)', [
      tenant_id,
      id,
      cheapPassword.hash,
    ])
    for (const role of roles) {
      await house.asSuperuser('insert into user_role (tenant_id, user_id, role_id) values ($1, $2, $3)', [
        tenant_id,
        id,
        role,
      ])
    }
    return { id, email, tenant_id }
  }

  return {
    member,
    /** Ends the rehearsal of a tenant, as its first real provisioner does. */
    goLive: ({ tenant_id }: { tenant_id: string }) =>
      house.asSuperuser(`update tenant set mode = 'live', live_since = now() where id = $1`, [tenant_id]),
    /** Has the codes that the user's apps show now count again: they count once, and change only every 30 seconds. */
    forgetUse: ({ id }: Member) => house.asSuperuser('update second_factor set last_step = 0 where user_id = $1', [id]),
    /** Moves the sign-in of every session of the user into the past. */
    ageSessions: ({ id }: Member, seconds: number) =>
      house.asSuperuser(
        `update user_session set auth_time = clock_timestamp() - make_interval(secs => $2) where user_id = $1`,
        [id, seconds],
      ),
    eventsOf: (of: { id: string }) =>
      house.asSuperuser<{ type: string; actor_id: string | null; data: Record<string, unknown> }>(
        `select type, actor_id, data from event where subject_id = $1 order by seq`,
        [of.id],
      ),
  }
}

function stepsOf(house: House) {
  const login = ({ email, tenant_id }: Member, text = password) =>
    house.call({ method: 'POST', url: '/v1/auth/login', tenant_id, body: { email, password: text } })
  const finish = (body: object) => house.call({ method: 'POST', url: '/v1/auth/second-factor', body })
  const as = (
    { user, token }: { user: Member; token: string },
    method: string,
    url: string,
    body?: unknown,
    headers = {},
  ) => house.call({ method, url, token, tenant_id: user.tenant_id, headers, ...(body !== undefined && { body }) })
  const tokenOf = (reply: Reply) => {
    assert.equal(reply.status, 200, reply.text)
    return String(reply.body.token)
  }
  /** Signs in with the password alone. */
  const withPassword = async (user: Member) => ({ user, token: tokenOf(await login(user)) })
  const challenge = async (user: Member): Promise<Challenge> => {
    const { status, body, text } = await login(user)
    assert.deepEqual([status, body.code], [401, 'second_factor_required'], text)
    return body.details as Challenge
  }
  const begin = async (by: { user: Member; token: string }, kind: 'totp' | 'passkey') => {
    const reply = await as(by, 'POST', factorsUrl, { kind })
    assert.equal(reply.status, 201, reply.text)
    return reply.body as {
      id: string
      expires_at: string
      totp: { secret: string; uri: string }
      passkey: Record<string, unknown>
    }
  }
  const confirm = (by: { user: Member; token: string }, id: string, body: object) =>
    as(by, 'POST', `${factorsUrl}/${id}/confirm`, body)

  /** Sets up an app with codes. */
  async function addApp(by: { user: Member; token: string }): Promise<AppUser> {
    const { id, totp } = await begin(by, 'totp')
    const app = totpApp(totp.secret)
    const reply = await confirm(by, id, { totp: app.code() })
    assert.equal(reply.status, 200, reply.text)
    return { ...by, factor_id: id, app, codes: (reply.body.recovery_codes ?? []) as string[] }
  }
  /** Sets up a passkey. */
  async function addPasskey(by: { user: Member; token: string }, counts = true) {
    const { id, passkey } = await begin(by, 'passkey')
    const authenticator: SoftwareAuthenticator = softwareAuthenticator(origin, { counts })
    const reply = await confirm(by, id, { passkey: authenticator.create(passkey) })
    assert.equal(reply.status, 200, reply.text)
    return { ...by, factor_id: id, authenticator, codes: (reply.body.recovery_codes ?? []) as string[] }
  }
  /** Signs in with the password and this proof. */
  async function withFactor(user: Member, proof: object) {
    const { challenge: text } = await challenge(user)
    return { user, token: tokenOf(await finish({ challenge: text, ...proof })) }
  }
  return { login, finish, as, withPassword, challenge, begin, confirm, addApp, addPasskey, withFactor }
}
