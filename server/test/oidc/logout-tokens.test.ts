import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Forgery, logoutEvent, openLogoutStage } from '../support/logout-stage.ts'
import { own } from '../support/sign-in-stage.ts'
import { byHmac, type Json, jwt, publicText, rsaKey, strangers, theirs, unsigned } from '../support/token-forge.ts'

/** Logout tokens that no provider made, or that it made for something else. */
const { house, tenant, provider, operators, send, isAlive, audit } = await openLogoutStage()

const stranger = rsaKey('unheard-of')
const answerOfUnknown = (await send('00000000-0000-7000-8000-000000000000', 'x')).text
assert.equal(JSON.parse(answerOfUnknown).code, 'invalid_input')

/** Sends the text to the provider, and asserts the one answer for every cause. */
async function refused(id: string, text: string): Promise<void> {
  const reply = await send(id, text)
  assert.deepEqual([reply.status, reply.text], [400, answerOfUnknown])
}

const now = () => Math.floor(Date.now() / 1000)

suite('a logout token that the provider did not sign is refused (O8, O16)', async () => {
  const of = await tenant()
  const { id, signIn, logoutToken } = await provider(of)
  const anna = await signIn('anna')
  const forgeries: [name: string, forgery: Forgery][] = [
    ['without a signature', { header: { alg: 'none' }, signer: unsigned }],
    ['without a signature, in other letters', { header: { alg: 'NoNe' }, signer: unsigned }],
    ['without an algorithm', { header: { alg: undefined } }],
    ['with an empty signature', { signer: unsigned }],
    ['by HMAC with the public key', { header: { alg: 'HS256' }, signer: byHmac(publicText) }],
    ['by HMAC with the secret of the client', { header: { alg: 'HS256' }, signer: byHmac(own.client_secret) }],
    ['by a key of a stranger under the known name', { signer: strangers.sign }],
    ['by a key that it brings along', { header: { jwk: strangers.jwk }, signer: strangers.sign }],
    ['by the provider’s other key', { signer: theirs.ec.sign }],
    ['for readers of an unknown extension', { header: { crit: ['must'], must: true } }],
    ['for a reader of bare payloads', { header: { crit: ['b64'], b64: false } }],
  ]
  for (const [name, forgery] of forgeries) {
    test(name, async () => {
      await refused(id, logoutToken({ sub: 'anna' }, forgery))
      assert.ok(await isAlive(anna))
      const last = (await audit(of)).at(-1)
      assert.equal(last?.type, 'auth.refused')
      assert.deepEqual(Object.keys(last?.data ?? {}).sort(), ['cause', 'reason', 'source_ip'])
      assert.match(JSON.stringify(last?.data), /"cause":"logout_token"/)
      assert.doesNotMatch(JSON.stringify(last?.data), /anna/)
    })
  }

  test('with another payload than the signed one', async () => {
    const [, of = ''] = logoutToken({ sub: 'anna' }).split('.')
    const [header, , signature] = logoutToken({ sub: 'ben' }).split('.')
    await refused(id, `${header}.${of}.${signature}`)
    await refused(id, `${header}.${of}`)
    await refused(id, `${logoutToken({ sub: 'anna' })}.x.y`)
    assert.ok(await isAlive(anna))
  })

  test('by a key of a name that the provider does not know', async () => {
    const other = await provider(await tenant())
    const unknown = { header: { kid: stranger.jwk.kid }, signer: stranger.sign }
    await refused(other.id, other.logoutToken({ sub: 'anna' }, unknown))
    // Where the keys were fetched a moment ago, the key may be newer.
    const reply = await send(id, logoutToken({ sub: 'anna' }, unknown))
    assert.ok([400, 503].includes(reply.status), reply.text)
    assert.ok(await isAlive(anna))
  })

  test('while one by any of the provider’s keys is obeyed', async () => {
    const byEc = { header: { alg: 'ES256', kid: theirs.ec.jwk.kid }, signer: theirs.ec.sign }
    assert.equal((await send(id, logoutToken({ sub: 'anna' }, byEc))).status, 200)
    assert.ok(!(await isAlive(anna)))
  })
})

suite('a token that the provider signed for something else is refused (O16)', async () => {
  let identity = ''
  const keep = (good: string) => {
    identity = good
    return good
  }
  const { id, signIn, logoutToken, issuer } = await provider(await tenant(), { idToken: keep })
  const anna = await signIn('anna', { sid: 's' })
  const forged = (claims: Json, header: Json = {}) => logoutToken({ sub: 'anna', ...claims }, { header })

  test('as the identity token', async () => {
    assert.ok(identity.split('.').length === 3)
    await refused(id, identity)
  })
  const tokens: [name: string, text: () => string][] = [
    ['an identity token of the type of a logout token', () => forged({ nonce: 'n', events: undefined })],
    ['one with a nonce', () => forged({ nonce: 'n' })],
    ['one with a nonce that is null', () => forged({ nonce: null })],
    ['one without a type', () => forged({}, { typ: undefined })],
    ['one of the usual type', () => forged({}, { typ: 'JWT' })],
    ['one without the event', () => forged({ events: {} })],
    ['one of another event', () => forged({ events: { [`${logoutEvent}s`]: {} } })],
    ['one without an id', () => forged({ jti: undefined })],
    ['one that names nobody', () => forged({ sub: undefined })],
    ['one of three minutes ago', () => forged({ iat: now() - 180, exp: undefined })],
    ['one of the future', () => forged({ iat: now() + 180, exp: undefined })],
    ['one that has expired', () => forged({ exp: now() - 90 })],
    ['one for another client of the issuer', () => forged({ aud: 'another' })],
    ['one for other clients of the issuer', () => forged({ aud: ['another', 'third'] })],
    ['one of another issuer', () => forged({ iss: `${issuer}/` })],
    ['one with two persons', () => twice({ iss: issuer, aud: own.client_id, iat: now(), jti: 'twice' })],
  ]
  for (const [name, text] of tokens) test(name, () => refused(id, text()))

  test('and none of them ended a session', async () => {
    assert.ok(await isAlive(anna))
    assert.equal((await send(id, forged({ sid: 's' }))).status, 200)
    assert.ok(!(await isAlive(anna)))
  })
})

/** A correctly signed token that names two persons. */
function twice(claims: Json): string {
  const text = JSON.stringify({ ...claims, events: { [logoutEvent]: {} }, sub: 'ben' })
  const header = { alg: 'RS256', kid: theirs.rsa.jwk.kid, typ: 'logout+jwt' }
  return jwt(header, text.replace('"sub"', '"sub":"anna","sub"'), theirs.rsa.sign)
}

suite('a logout token at another address than its provider’s is refused (O16)', async () => {
  const [one, other] = [await provider(await tenant()), await provider(await tenant())]
  const sessions = [
    await one.signIn('anna'),
    await other.signIn('anna'),
    await operators.signIn('anna', {}, await tenant()),
  ]

  test('at that of another tenant’s provider', async () => {
    await refused(other.id, one.logoutToken({ sub: 'anna' }))
    await refused(one.id, other.logoutToken({ sub: 'anna' }))
  })
  test('at that of the global provider, and the global provider’s elsewhere', async () => {
    await refused('global', one.logoutToken({ sub: 'anna' }))
    await refused(one.id, operators.logoutToken({ sub: 'anna' }))
  })
  const ids = [
    'Global',
    'global ',
    'null',
    'x',
    one.id.toUpperCase(),
    `{${one.id}}`,
    `${one.id} `,
    '%00',
    '\0',
    'é',
    'x'.repeat(300),
  ]
  for (const id of ids) {
    test(`at ${JSON.stringify(id.slice(0, 40))}`, () => refused(id, one.logoutToken({ sub: 'anna' })))
  }
  test('and leaves nothing in an audit log where no provider is known', async () => {
    const count = () => house.asSuperuser<{ n: number }>('select count(*)::int as n from event')
    const before = await count()
    await refused('00000000-0000-7000-8000-000000000001', one.logoutToken({ sub: 'anna' }))
    await refused('global', one.logoutToken({ sub: 'anna' }))
    assert.deepEqual(await count(), before)
  })
  test('and ends no session', async () => {
    for (const session of sessions) assert.ok(await isAlive(session))
  })
})

suite('a logout token is obeyed once (O16)', () => {
  test('so that its replay does not end a later session', async () => {
    const of = await tenant()
    const { id, signIn, logoutToken } = await provider(of)
    const token = logoutToken({ sub: 'anna' })
    const before = await signIn('anna')
    assert.equal((await send(id, token)).status, 200)
    const later = await signIn('anna')
    await refused(id, token)
    await refused(id, logoutToken({ ...claimsIn(token), exp: now() + 60 }))
    assert.deepEqual([await isAlive(before), await isAlive(later)], [false, true])
    assert.match(JSON.stringify((await audit(of)).at(-1)?.data), /used before/)
  })

  test('the global provider’s too', async () => {
    const of = await tenant()
    const token = operators.logoutToken({ sub: 'otto' })
    assert.equal((await send('global', token)).status, 200)
    const later = await operators.signIn('otto', {}, of)
    await refused('global', token)
    assert.ok(await isAlive(later))
  })

  test('also if it comes several times at once', async () => {
    const of = await tenant()
    const { id, signIn, logoutToken } = await provider(of)
    const anna = await signIn('anna')
    const token = logoutToken({ sub: 'anna' })
    const statuses = (await Promise.all(Array.from({ length: 6 }, () => send(id, token)))).map(({ status }) => status)
    assert.ok(statuses.includes(200) && statuses.every((status) => [200, 400].includes(status)), String(statuses))
    assert.ok(!(await isAlive(anna)))
    assert.equal((await audit(of)).filter(({ type }) => type === 'auth.signed_out').length, 1)
  })

  test('and the id of one provider’s token says nothing of another’s', async () => {
    const [one, other] = [await provider(await tenant()), await provider(await tenant())]
    const anna = await other.signIn('anna')
    assert.equal((await send(one.id, one.logoutToken({ sub: 'anna', jti: 'same' }))).status, 200)
    assert.equal((await send(other.id, other.logoutToken({ sub: 'anna', jti: 'same' }))).status, 200)
    assert.ok(!(await isAlive(anna)))
  })

  test('and a refused one may still be obeyed, since nobody knows who sent it first', async () => {
    const { id, signIn, logoutToken } = await provider(await tenant())
    const anna = await signIn('anna')
    const claims = { sub: 'anna', jti: 'guessed' }
    await refused(id, logoutToken(claims, { signer: strangers.sign }))
    assert.equal((await send(id, logoutToken(claims))).status, 200)
    assert.ok(!(await isAlive(anna)))
  })
})

function claimsIn(token: string): Json {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Json
}
