import assert from 'node:assert/strict'
import { beforeEach } from 'node:test'
import type { Environment } from '../../src/config/variables.ts'
import { type House, openHouse, type Reply, type TestTenant } from './house.ts'
import { type IdentityProvider, openIdentityProvider } from './identity-provider.ts'

export const redirect_uri = 'https://app.example.com/back'
/** The address of an external portal that begins sign-ins by the global provider. */
export const elsewhere = 'https://portal.example.com/back'
export const own = { client_id: 'sallyport', client_secret: 'a secret of the client', redirect_uris: [redirect_uri] }
const shared = { client_id: 'portal', client_secret: 'a secret of the portal', redirect_uris: [elsewhere] }
export const anna = { email: 'anna@example.com', email_verified: true, name: 'Anna' }
export const unknownTenant = '00000000-0000-7000-8000-000000000000'

export type Finish = { code: string; redirect_uri: string; state?: string; iss?: string }

/** A certified provider that all stages of a file share. */
export const openProviderOfAll = () =>
  openIdentityProvider([
    { ...own, pkce: true },
    { ...shared, pkce: false },
  ])

/** The settings that make it the global provider of a house. */
export const asGlobal = ({ issuer }: IdentityProvider): Environment => ({
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: shared.client_id,
  OIDC_CLIENT_SECRET: shared.client_secret,
  OIDC_REDIRECT_URIS: elsewhere,
})

/** The service with a provider, a new tenant for each test, and the steps of a sign-in. */
export async function openSignInStage(idp: IdentityProvider, env: Environment = {}) {
  const house = await openHouse({ EGRESS_ALLOW: '127.0.0.1', ...env })
  let tenant: TestTenant
  let tenants = 0
  beforeEach(async () => {
    tenants += 1
    tenant = await house.tenant(`tenant ${tenants}`)
    idp.state.down = false
  })
  const ways = signInWays(house, idp, () => tenant)
  const publicAnswer = (
    await house.call({ method: 'POST', url: '/v1/auth/callback', body: { code: 'x', redirect_uri, state: 'x' } })
  ).text
  const causes = (of = tenant) => causesOf(house, of)
  return {
    house,
    tenant: () => tenant,
    ...ways,
    causes,
    /** Asserts the one public answer for every cause, and the cause in the audit log. */
    async assertRefused(reply: Reply, cause?: string, of = tenant) {
      assert.deepEqual([reply.status, reply.body.code], [401, 'invalid_authorization_code'])
      assert.equal(reply.text, publicAnswer)
      if (cause !== undefined) assert.equal((await causes(of)).at(-1), cause)
    },
    usersOf: (of = tenant) => oidcUsersOf(house, of),
    async makeOidcUser(email: string, of = tenant) {
      const body = { email, name: 'Made', roles: ['approver'], auth_provider: 'oidc' }
      const reply = await ways.asOwner('POST', '/v1/users', body, of)
      assert.equal(reply.status, 201, reply.text)
      return String(reply.body.id)
    },
    /** Begins at an external portal: this service is called only at the end. */
    async walkElsewhere(account: string, claims: object, more: Record<string, string> = {}) {
      const query = { client_id: shared.client_id, redirect_uri: elsewhere, response_type: 'code', ...more }
      const url = `${idp.issuer}/auth?${new URLSearchParams({ scope: 'openid email profile', ...query })}`
      const { code } = answerOf(await idp.signIn(url, account, { ...claims }))
      return { code, redirect_uri: elsewhere }
    },
  }
}

/** The steps of a sign-in at `idp`, for `tenant()` unless another is named. */
export function signInWays(house: House, idp: Pick<IdentityProvider, 'issuer' | 'signIn'>, tenant: () => TestTenant) {
  const settings = { issuer: idp.issuer, client_id: own.client_id, client_secret: own.client_secret }

  const asOwner = (method: string, url: string, body?: unknown, of = tenant()) =>
    house.call({ method, url, token: of.owner.token, tenant_id: of.tenant_id, ...(body !== undefined && { body }) })
  const configure = async (change: object = {}, of = tenant()) => {
    const body = { ...settings, redirect_uris: [redirect_uri], ...change }
    const reply = await asOwner('PUT', '/v1/settings/sign-in', body, of)
    assert.equal(reply.status, 200, reply.text)
    return reply
  }
  const begin = (tenant_id = tenant().tenant_id, headers: Record<string, string> = {}, to = redirect_uri) => {
    const query = new URLSearchParams({ tenant: tenant_id, redirect_uri: to })
    return house.call({ method: 'GET', url: `/v1/auth/authorize?${query}`, headers })
  }
  const finish = (body: Finish, headers: Record<string, string> = {}) =>
    house.call({ method: 'POST', url: '/v1/auth/callback', body, headers })
  const walk = async (account: string, claims: object = anna, of = tenant(), by = idp) => {
    const begun = await begin(of.tenant_id)
    assert.equal(begun.status, 302, begun.text)
    return answerOf(await by.signIn(String(begun.headers.location), account, { ...claims }))
  }
  const signIn = async (account: string, claims: object = anna, of = tenant()) =>
    finish(await walk(account, claims, of))
  return { settings, asOwner, configure, begin, finish, walk, signIn }
}

/** The causes of refused sign-ins in the tenant's audit log. */
async function causesOf(house: House, { tenant_id }: TestTenant): Promise<string[]> {
  const rows = await house.asSuperuser<{ cause: string }>(
    `select data ->> 'cause' as cause from event where tenant_id = $1 and type = 'auth.refused' order by seq`,
    [tenant_id],
  )
  return rows.map((row) => row.cause)
}

function oidcUsersOf(house: House, { tenant_id }: TestTenant) {
  return house.asSuperuser<{ email: string; issuer: string | null; subject: string | null }>(
    `select email, issuer, subject from tenant_user where tenant_id = $1 and auth_provider = 'oidc' order by id`,
    [tenant_id],
  )
}

/** The provider's redirect as the body of endpoint 1. */
export function answerOf(back: URL): Finish {
  const { code = '', state, iss } = Object.fromEntries(back.searchParams)
  const redirect = `${back.origin}${back.pathname}`
  return { code, redirect_uri: redirect, ...(state !== undefined && { state }), ...(iss !== undefined && { iss }) }
}

export function claimsOf(reply: Reply): { sub: string; tid: string } {
  const [, payload = ''] = String(reply.body.token).split('.')
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub: string; tid: string }
}
