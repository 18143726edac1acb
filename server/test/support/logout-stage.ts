import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { type Misdeed, openHostileProvider, type Realm } from './hostile-provider.ts'
import { type House, openHouse, type Reply, type TestTenant, type Through } from './house.ts'
import { anna, answerOf, claimsOf, elsewhere, own, signInWays } from './sign-in-stage.ts'
import { type Json, jwt, type Signer, theirs } from './token-forge.ts'

export const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'

/** A token of a sign-in and its tenant. */
export type SignedIn = { token: string; tenant_id: string; user_id: string }

/** How a logout token differs from a correct one. */
export type Forgery = { header?: Json; signer?: Signer }

/** The service with a global provider, and the steps of signing in and out by it and by providers of tenants. */
export async function openLogoutStage(through?: Through, follows = false) {
  const evil = await openHostileProvider()
  const operators = evil.realm()
  const env = {
    EGRESS_ALLOW: '127.0.0.1',
    OIDC_ISSUER: operators.issuer,
    OIDC_CLIENT_ID: own.client_id,
    OIDC_CLIENT_SECRET: own.client_secret,
    OIDC_REDIRECT_URIS: elsewhere,
    OIDC_TENANT_CLAIM: 'tid',
  }
  const house = await openHouse(env, through, follows)
  const send = (provider: string, logout_token: string) => sendForm(house, provider, { logout_token })
  let tenants = 0

  /** Signs in by the global provider, in this tenant. */
  async function signInGlobally(account: string, claims: object, { tenant_id }: TestTenant): Promise<SignedIn> {
    const query = new URLSearchParams({ redirect_uri: elsewhere, code_challenge: challengeOfNothing })
    const back = await operators.signIn(`${operators.issuer}/authorize?${query}`, account, {
      ...{ email: `${account}@example.com`, email_verified: true, tid: tenant_id },
      ...claims,
    })
    const { code } = answerOf(back)
    const body = { code, redirect_uri: elsewhere }
    return signedIn(await house.call({ method: 'POST', url: '/v1/auth/callback', body }))
  }

  return {
    house,
    evil,
    operators: { ...parts(operators), id: 'global', signIn: signInGlobally },
    tenant: () => house.tenant(`tenant ${++tenants}`),
    send,
    /** A tenant's own provider, by the id of its setting, and the steps of a sign-in by it. */
    async provider(of: TestTenant, misdeed: Misdeed = {}, realm = evil.realm()) {
      const ways = signInWays(house, realm, () => of)
      const setting = await ways.configure()
      realm.misdeed = misdeed
      const trySignIn = (account: string, claims: object = {}): Promise<Reply> =>
        ways.signIn(account, { ...anna, email: `${account}@example.com`, ...claims })
      const signIn = async (account: string, claims: object = {}) => signedIn(await trySignIn(account, claims))
      const { configure, asOwner } = ways
      return { ...parts(realm), id: String(setting.body.id), configure, asOwner, signIn, trySignIn }
    },
    /** Whether the service still accepts the token. */
    async isAlive({ token, tenant_id }: SignedIn): Promise<boolean> {
      const reply = await house.call({ method: 'GET', url: '/v1/users/me/sessions', token, tenant_id })
      assert.ok([200, 401].includes(reply.status), reply.text)
      return reply.status === 200
    },
    /** The sign-outs and refusals in a tenant's audit log. */
    audit: ({ tenant_id }: { tenant_id: string }) =>
      house.asSuperuser<{ type: string; subject_id: string; data: Json }>(
        `select type, subject_id, data from event
          where tenant_id = $1 and type in ('auth.signed_out', 'auth.refused') order by seq`,
        [tenant_id],
      ),
  }
}

function signedIn(reply: Reply): SignedIn {
  assert.equal(reply.status, 200, reply.text)
  const { sub, tid } = claimsOf(reply)
  return { token: String(reply.body.token), tenant_id: tid, user_id: sub }
}

function parts(realm: Realm) {
  return { realm, issuer: realm.issuer, logoutToken: logoutTokensOf(realm.issuer) }
}

/** Makes the logout tokens of an issuer; `claims` replaces claims, undefined removes one. */
function logoutTokensOf(iss: string) {
  return (claims: Json, { header = {}, signer = theirs.rsa.sign }: Forgery = {}): string => {
    const iat = Math.floor(Date.now() / 1000)
    const whole = { iss, aud: own.client_id, iat, exp: iat + 120, jti: randomUUID(), events: { [logoutEvent]: {} } }
    return jwt({ alg: 'RS256', kid: theirs.rsa.jwk.kid, typ: 'logout+jwt', ...header }, { ...whole, ...claims }, signer)
  }
}

/** Sends these fields as a form to the address of a provider. */
export function sendForm(house: House, provider: string, fields: Record<string, string> | string, type = form) {
  const body = typeof fields === 'string' ? fields : new URLSearchParams(fields).toString()
  const url = `/v1/auth/back-channel-logout/${encodeURIComponent(provider)}`
  return house.call({ method: 'POST', url, body, headers: { 'content-type': type } })
}

const form = 'application/x-www-form-urlencoded'

/** The challenge of a sign-in without a verifier. */
const challengeOfNothing = createHash('sha256').digest('base64url')
