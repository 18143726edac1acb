import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { own } from './sign-in-stage.ts'
import { type Json, jwt, type Signer, theirs } from './token-forge.ts'

/** The answer of one step. For worse than an answer see `Worse`. */
export type Answer = { status: number; headers: Record<string, string | string[]>; body: string | Buffer }
/**
 * `hang`: never answers. `drip`: sends a byte now and then, without end. `cut`: half of the answer. `switch`: to another
 * protocol.
 */
export type Worse = 'hang' | 'drip' | 'cut' | 'switch'
export type Step = 'discovery' | 'jwks' | 'token' | 'userinfo'

/** What a provider does wrong; each function receives what a correct provider would have done. */
export type Misdeed = {
  metadata?(good: Json): unknown
  keys?(good: Json[]): unknown
  header?(good: Json): Json | string
  claims?(good: Json): Json | string
  /** Signs the identity token. */
  signer?: Signer
  /** The identity token itself, with its three parts. */
  idToken?(good: string): unknown
  /** The answer of the token endpoint. */
  tokens?(good: Json): unknown
  userinfo?(good: Json): unknown
  /** What happens while a step is under way, before its answer. */
  meanwhile?(step: string): Promise<unknown>
  /** Replaces the final answer of a step. */
  answer?: Partial<Record<Step, (good: Answer) => Answer | Worse>>
}

/** A request that the provider received, for tests of secret handling. */
export type ReceivedRequest = { step: string; authorization: string | undefined; form: URLSearchParams }

type Authorized = { challenge: string; redirect_uri: string; claims: Json; nonce: string }

/** One provider: its own issuer below the server's origin, with a misdeed that may change during a test. */
export type Realm = {
  issuer: string
  misdeed: Misdeed
  received: ReceivedRequest[]
  /** How often a step was called. */
  countOf(step: string): number
  /** Follows the service's redirect, signs in, and returns the redirect back to the service. */
  signIn(location: string, account: string, claims: object): Promise<URL>
}

/**
 * A provider on 127.0.0.1 that does everything that a correct one does, over real HTTP; a misdeed changes single steps. Each
 * realm is a separate provider. It is closed when the file's tests are done.
 */
export async function openHostileProvider() {
  const realms = new Map<string, ReturnType<typeof makeRealm>['serve']>()
  const server = createServer((request, reply) => {
    const [, realm = '', path = ''] = /^\/([^/]*)([^?]*)/.exec(request.url ?? '') ?? []
    void formOf(request).then(async (form) => {
      send(reply, (await realms.get(realm)?.(path, request, form)) ?? { status: 404, headers: {}, body: '' })
    })
  })
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done)
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    realm(misdeed: Misdeed = {}): Realm {
      const name = `r${realms.size}`
      const realm = makeRealm(`${origin}/${name}`, misdeed)
      realms.set(name, realm.serve)
      return realm
    },
  }
}

function makeRealm(issuer: string, misdeed: Misdeed) {
  const codes = new Map<string, Authorized>()
  const accounts = new Map<string, Json>()
  const received: ReceivedRequest[] = []
  const realm = {
    issuer,
    misdeed,
    received,
    countOf: (step: string) => received.filter((one) => one.step === step).length,
    async signIn(location: string, account: string, claims: object): Promise<URL> {
      const url = new URL(location)
      url.searchParams.set('login_hint', account)
      accounts.set(account, { ...claims })
      const reply = await fetch(url, { redirect: 'manual' })
      return new URL(reply.headers.get('location') ?? '')
    },
    async serve(path: string, request: IncomingMessage, form: URLSearchParams): Promise<Answer | Worse> {
      const step = steps[path] ?? path
      const { authorization } = request.headers
      received.push({ step, authorization, form })
      await realm.misdeed.meanwhile?.(step)
      const good = goodAnswer(step, request, form)
      const worse = realm.misdeed.answer?.[step as Step]
      return worse === undefined ? good : worse(good)
    },
  }
  return realm

  function goodAnswer(step: string, request: IncomingMessage, form: URLSearchParams): Answer {
    const { metadata, keys, userinfo } = realm.misdeed
    if (step === 'discovery') return json(apply(metadata, metadataOf(issuer)))
    if (step === 'jwks') return json({ keys: apply(keys, [theirs.rsa.jwk, theirs.ec.jwk]) })
    if (step === 'authorize') return authorize(new URL(request.url ?? '', issuer).searchParams)
    if (step === 'token') return redeem(form, request.headers.authorization)
    const claims = accounts.get(request.headers.authorization?.replace('Bearer ', '') ?? '')
    return claims === undefined ? json({ error: 'invalid_token' }, 401) : json(apply(userinfo, claims))
  }

  function authorize(params: URLSearchParams): Answer {
    const code = `code-${codes.size}`
    const account = params.get('login_hint') ?? ''
    const redirect_uri = params.get('redirect_uri') ?? ''
    const challenge = params.get('code_challenge') ?? ''
    const claims = { sub: account, ...accounts.get(account) }
    accounts.set(`at-${code}`, claims)
    codes.set(code, { challenge, redirect_uri, claims, nonce: params.get('nonce') ?? '' })
    const back = new URL(redirect_uri)
    for (const [name, value] of Object.entries({ code, state: params.get('state') ?? '', iss: issuer })) {
      back.searchParams.set(name, value)
    }
    return { status: 302, headers: { location: back.href }, body: '' }
  }

  function redeem(form: URLSearchParams, authorization: string | undefined): Answer {
    const code = form.get('code') ?? ''
    const granted = codes.get(code)
    codes.delete(code)
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const right = granted?.redirect_uri === form.get('redirect_uri') && granted?.challenge === challenge
    if (authorization !== basic) return json({ error: 'invalid_client' }, 401)
    if (granted === undefined || !right) return json({ error: 'invalid_grant' }, 400)
    return mint(issuer, realm.misdeed, { ...granted, code })
  }
}

/** Issues the tokens for a code. */
function mint(issuer: string, misdeed: Misdeed, { claims: known, nonce, code }: Authorized & { code: string }): Answer {
  const { header, claims, signer, idToken, tokens } = misdeed
  const now = Math.floor(Date.now() / 1000)
  const tokenClaims = { ...known, iss: issuer, aud: own.client_id, iat: now, exp: now + 300, nonce }
  const { rsa } = theirs
  const token = jwt(apply(header, { alg: 'RS256', kid: rsa.jwk.kid }), apply(claims, tokenClaims), signer ?? rsa.sign)
  const answer = { access_token: `at-${code}`, token_type: 'Bearer', expires_in: 300, id_token: apply(idToken, token) }
  return json(apply(tokens, answer))
}

const steps: Readonly<Record<string, string>> = {
  '/.well-known/openid-configuration': 'discovery',
  '/authorize': 'authorize',
  '/token': 'token',
  '/userinfo': 'userinfo',
  '/jwks': 'jwks',
}

const basic = `Basic ${Buffer.from(
  [own.client_id, own.client_secret].map((part) => encodeURIComponent(part).replaceAll('%20', '+')).join(':'),
).toString('base64')}`

function metadataOf(issuer: string): Json {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'ES256'],
    authorization_response_iss_parameter_supported: true,
  }
}

function apply<Good, Bad>(change: ((good: Good) => Bad) | undefined, good: Good): Good | Bad {
  return change === undefined ? good : change(good)
}

function json(body: unknown, status = 200): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) ?? '' }
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return new URLSearchParams(text)
}

function send(reply: ServerResponse, answer: Answer | Worse): void {
  if (answer === 'hang') return
  if (answer === 'switch') {
    reply.socket?.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n')
  } else if (answer === 'cut') {
    reply.socket?.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"iss')
  } else if (answer === 'drip') {
    reply.writeHead(200, { 'content-type': 'application/json' })
    const drip = setInterval(() => reply.write(' '), 100)
    reply.once('close', () => clearInterval(drip))
  } else {
    reply.writeHead(answer.status, answer.headers).end(answer.body)
  }
}
