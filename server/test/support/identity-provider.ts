import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
// @ts-expect-error: the package has no types of its own
import UntypedProvider from 'oidc-provider'

/** The parts of the provider that are used. */
type Provider = {
  callback(): (request: IncomingMessage, reply: ServerResponse) => void
  interactionFinished(request: IncomingMessage, reply: ServerResponse, result: object): Promise<void>
}
type ProviderClass = new (issuer: string, options: object) => Provider
type GrantContext = {
  oidc: {
    client: { clientId: string }
    session: { accountId: string }
    provider: { Grant: new (of: object) => { addOIDCScope(scope: string): void; save(): Promise<void> } }
  }
}

/** Where a provider announces that a user signed out, and whether it names the session. */
export type LogoutAddress = { backchannel_logout_uri: string; backchannel_logout_session_required?: boolean }
type Cookies = Map<string, string>

export type TestClient = { client_id: string; client_secret: string; redirect_uris: string[] }

/**
 * A certified OpenID provider on 127.0.0.1 at which the user that `account` names signs in without a prompt. It is closed when
 * the file's tests are done.
 */
export async function openIdentityProvider(clients: (TestClient & { pkce: boolean })[]) {
  const accounts = new Map<string, Record<string, unknown>>()
  const requestedPaths: string[] = []
  const logoutAddresses = new Map<string, LogoutAddress>()
  /** The cookies of the browser in which an account signed in last. */
  const browsers = new Map<string, Cookies>()
  const state = { account: '', keys: [await makeKey('first')], published: undefined as JWK[] | undefined, down: false }
  const server = createServer((request, reply) => {
    const path = request.url?.split('?')[0] ?? ''
    requestedPaths.push(path)
    if (state.down) return reply.writeHead(500).end()
    if (path === '/jwks' && state.published) return sendJson(reply, { keys: state.published.map(publicPart) })
    if (!path.startsWith('/interaction/')) return provider.callback()(request, reply)
    return void provider.interactionFinished(request, reply, { login: { accountId: state.account } })
  })
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done)
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const makeProvider = () =>
    new (UntypedProvider as ProviderClass)(issuer, {
      ...optionsOf(clients, accounts, state.keys),
      ...(logoutAddresses.size > 0 && announcingLogouts(clients, logoutAddresses)),
    })
  let provider = makeProvider()

  return {
    issuer,
    /** The requested paths, in order. */
    requestedPaths,
    accounts,
    state,
    /** Follows the service's redirect as a user with these claims, signs in, and returns the redirect back to the service. */
    async signIn(location: string, account: string, claims: Record<string, unknown>): Promise<URL> {
      accounts.set(account, claims)
      state.account = account
      const cookies: Cookies = new Map()
      browsers.set(account, cookies)
      return follow(new URL(location), issuer, cookies)
    },
    /** Sends the client's logout tokens to this address from now on. */
    announceLogouts(client_id: string, address: LogoutAddress): void {
      logoutAddresses.set(client_id, address)
      provider = makeProvider()
    },
    /** Signs out at this address of the provider, in the browser in which the account signed in last. */
    async signOut(location: string, account: string): Promise<void> {
      const cookies = browsers.get(account) ?? new Map()
      const page = await (await visit(new URL(location), cookies)).text()
      const [, action = ''] = /action="([^"]+)"/.exec(page) ?? []
      const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(page) ?? []
      const body = new URLSearchParams({ xsrf, logout: 'yes' })
      const done = await visit(new URL(action), cookies, { method: 'POST', body })
      if (done.status !== 303) throw new Error(`the provider answers ${done.status}: ${await done.text()}`)
    },
    /** Signs with a new key from now on, and publishes only that key. */
    async rotateKey(kid: string): Promise<void> {
      state.keys = [await makeKey(kid)]
      provider = makeProvider()
    },
    /** Publishes other keys than it signs with, under the same names. */
    async publishOtherKeys(): Promise<void> {
      state.published = await Promise.all(state.keys.map((key) => makeKey(String(key.kid))))
    },
  }
}

export type IdentityProvider = Awaited<ReturnType<typeof openIdentityProvider>>

function optionsOf(
  clients: (TestClient & { pkce: boolean })[],
  accounts: ReadonlyMap<string, Record<string, unknown>>,
  keys: JWK[],
) {
  const withPkce = new Set(clients.filter(({ pkce }) => pkce).map(({ client_id }) => client_id))
  return {
    clients: clients.map(({ pkce: _, ...client }) => client),
    jwks: { keys },
    cookies: { keys: ['a key of the test'] },
    // `teams` is in the user info alone.
    claims: {
      openid: ['sub', 'tid', 'groups', 'hasgroups'],
      email: ['email', 'email_verified'],
      profile: ['name', 'teams'],
    },
    features: { devInteractions: { enabled: false } },
    pkce: { required: (_: unknown, client: { clientId: string }) => withPkce.has(client.clientId) },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, ...accounts.get(id) }),
    }),
    loadExistingGrant: async ({ oidc }: GrantContext) => {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  }
}

function announcingLogouts(clients: (TestClient & { pkce: boolean })[], addresses: ReadonlyMap<string, LogoutAddress>) {
  return {
    clients: clients.map(({ pkce: _, ...client }) => ({ ...client, ...addresses.get(client.client_id) })),
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    // Its own dispatcher refuses to call the loopback address.
    fetch: (url: string, { dispatcher: _, ...options }: RequestInit & { dispatcher?: unknown }) => fetch(url, options),
  }
}

async function makeKey(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  return { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' }
}

function publicPart({ kty, n, e, kid, alg, use }: JWK): object {
  return { kty, n, e, kid, alg, use }
}

function sendJson(reply: ServerResponse, body: unknown): void {
  reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Follows redirects as a browser does, with cookies, until one leaves the provider. */
async function follow(start: URL, issuer: string, cookies: Cookies): Promise<URL> {
  let url = start
  for (let step = 0; step < 10; step += 1) {
    if (url.origin !== issuer) return url
    const reply = await visit(url, cookies)
    const next = reply.headers.get('location')
    if (next === null) throw new Error(`the provider answers ${reply.status}: ${await reply.text()}`)
    url = new URL(next, url)
  }
  throw new Error('the provider sends round and round')
}

/** One request of a browser with these cookies. */
async function visit(url: URL, cookies: Cookies, more: RequestInit = {}): Promise<Response> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const reply = await fetch(url, { redirect: 'manual', headers: { cookie }, ...more })
  for (const set of reply.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
    cookies.set(name, value)
  }
  return reply
}
