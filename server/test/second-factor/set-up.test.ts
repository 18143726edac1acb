import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import type { Reply } from '../support/house.ts'
import { factorsUrl, type Member, openFactorStage, origin } from '../support/second-factor-stage.ts'
import { softwareAuthenticator } from '../support/software-authenticator.ts'
import { totpApp } from '../support/totp-app.ts'

const stage = await openFactorStage()
const { house, member, withPassword, begin, confirm, addApp, addPasskey, as, eventsOf } = stage
const tenant = await house.tenant('setting up')
const theirs = await house.tenant('another')

const aUser = async (of = tenant) => withPassword(await member(of))
type SignedIn = Awaited<ReturnType<typeof aUser>>
const listed = async (by: SignedIn) => (await as(by, 'GET', factorsUrl)).body
const factors = async (by: SignedIn) => (await listed(by)).data as { id: string; kind: string; name: string }[]
const refused = ({ status, body, text }: Reply, code: number, name: string) =>
  assert.deepEqual([status, body.code], [code, name], text)
const pointerOf = ({ body }: Reply) => (body.details as { fields: { pointer: string }[] }).fields[0]?.pointer

suite('an app with codes', () => {
  test('counts once it is confirmed, and comes with ten recovery codes that are shown once', async () => {
    const by = await aUser()
    const { id, expires_at, totp } = await begin(by, 'totp')
    const url = new URL(totp.uri)
    assert.deepEqual(
      [url.searchParams.get('secret'), url.searchParams.get('issuer')],
      [totp.secret, 'Sallyport (localhost)'],
    )
    assert.ok(Date.parse(expires_at) > Date.now())
    assert.deepEqual(await factors(by), [], 'it does not count yet')
    const reply = await confirm(by, id, { totp: totpApp(totp.secret).code() })
    assert.equal(reply.status, 200, reply.text)
    assert.equal((reply.body.recovery_codes as string[]).length, 10)
    const { data, recovery_codes_left } = await listed(by)
    assert.deepEqual(data, [reply.body.factor])
    assert.equal(recovery_codes_left, 10)
    assert.deepEqual(Object.keys(reply.body.factor as object).sort(), [
      'created_at',
      'id',
      'kind',
      'last_used_at',
      'name',
    ])
  })

  test('has the name that the user gave it', async () => {
    const by = await aUser()
    const { body } = await as(by, 'POST', factorsUrl, { kind: 'totp', name: 'old phone' })
    const { secret } = body.totp as { secret: string }
    await confirm(by, String(body.id), { totp: totpApp(secret).code() })
    assert.deepEqual(
      (await factors(by)).map(({ name }) => name),
      ['old phone'],
    )
  })

  test('is not confirmed by a wrong code, and then by the right one', async () => {
    const by = await aUser()
    const { id, totp } = await begin(by, 'totp')
    const app = totpApp(totp.secret)
    for (const code of [app.wrong(), app.code(-4), app.code(4)]) {
      const reply = await confirm(by, id, { totp: code })
      refused(reply, 400, 'invalid_input')
      assert.equal(pointerOf(reply), '/totp')
    }
    assert.equal((await confirm(by, id, { totp: app.code() })).status, 200)
  })

  test('is confirmed once, also when two calls do it at once', async () => {
    const by = await aUser()
    const { id, totp } = await begin(by, 'totp')
    const app = totpApp(totp.secret)
    const replies = await Promise.all([0, 1].map(() => confirm(by, id, { totp: app.code() })))
    assert.deepEqual(replies.map(({ status }) => status === 200).sort(), [false, true])
    const strong = await stage.withFactor(by.user, { totp: app.code(1) })
    refused(await confirm(strong, id, { totp: app.code(1) }), 404, 'not_found')
    const added = (await eventsOf(by.user)).filter(({ type }) => type === 'user.second_factor_added')
    assert.deepEqual(
      added.map(({ actor_id, data }) => ({ actor_id, ...data })),
      [{ actor_id: by.user.id, factor_id: id, kind: 'totp' }],
    )
  })

  test('is not confirmed ten minutes after it was begun', async () => {
    const by = await aUser()
    const { id, totp } = await begin(by, 'totp')
    const age = (seconds: number) =>
      house.asSuperuser('update second_factor set created_at = now() - make_interval(secs => $2) where id = $1', [
        id,
        seconds,
      ])
    await age(600)
    refused(await confirm(by, id, { totp: totpApp(totp.secret).code() }), 404, 'not_found')
    await age(500)
    assert.equal((await confirm(by, id, { totp: totpApp(totp.secret).code() })).status, 200)
  })

  test('is not confirmed by another user, of this tenant or another (T2)', async () => {
    const by = await aUser()
    const { id, totp } = await begin(by, 'totp')
    for (const other of [await aUser(), await aUser(theirs)]) {
      for (const code of [totpApp(totp.secret).code(), totpApp(totp.secret).wrong()]) {
        refused(await confirm(other, id, { totp: code }), 404, 'not_found')
      }
      refused(await as(other, 'DELETE', `${factorsUrl}/${id}`), 404, 'not_found')
    }
    assert.equal((await confirm(by, id, { totp: totpApp(totp.secret).code() })).status, 200)
  })
})

suite('a passkey', () => {
  test('is set up by the answer of a browser', async () => {
    const by = await aUser()
    const { factor_id, codes } = await addPasskey(by)
    assert.equal(codes.length, 10)
    assert.deepEqual(
      (await factors(by)).map(({ id, kind, name }) => ({ id, kind, name })),
      [{ id: factor_id, kind: 'passkey', name: 'passkey' }],
    )
  })

  test('is not set up by an answer for another challenge or another site', async () => {
    const by = await aUser()
    const [one, other] = [await begin(by, 'passkey'), await begin(by, 'passkey')]
    const authenticator = softwareAuthenticator(origin)
    for (const passkey of [
      authenticator.create(other.passkey),
      authenticator.create(one.passkey, { origin: 'http://localhost:8081' }),
      authenticator.create(one.passkey, { rpId: 'example.com' }),
    ]) {
      const reply = await confirm(by, one.id, { passkey })
      refused(reply, 400, 'invalid_input')
      assert.equal(pointerOf(reply), '/passkey')
    }
    const right = authenticator.create(one.passkey)
    assert.equal((await confirm(by, one.id, { passkey: right })).status, 200)
    refused(await confirm(by, one.id, { passkey: right }), 403, 'sign_in_again')
  })

  test('is not set up twice: not by its user, nor by another of the tenant', async () => {
    const by = await aUser()
    const { authenticator } = await addPasskey(by)
    const again = await aUser()
    const { id, passkey } = await begin(again, 'passkey')
    refused(await confirm(again, id, { passkey: authenticator.create(passkey) }), 422, 'unprocessable')
    assert.deepEqual(await factors(again), [])
    // In another tenant the same authenticator is another passkey.
    const elsewhere = await aUser(theirs)
    const made = await begin(elsewhere, 'passkey')
    assert.equal((await confirm(elsewhere, made.id, { passkey: authenticator.create(made.passkey) })).status, 200)
  })

  test('is not possible at an address that browsers make none for', async () => {
    const plain = await openFactorStage({ PUBLIC_URL: 'http://127.0.0.1:8080' })
    const by = await plain.withPassword(await plain.member(await plain.house.tenant('by number')))
    refused(await plain.as(by, 'POST', factorsUrl, { kind: 'passkey' }), 422, 'unprocessable')
    assert.equal((await plain.as(by, 'POST', factorsUrl, { kind: 'totp' })).status, 201)
  })
})

suite('what confirms a second factor', () => {
  test('belongs to its kind, and is there', async () => {
    const by = await aUser()
    const [app, key] = [await begin(by, 'totp'), await begin(by, 'passkey')]
    const cases: [string, object, string][] = [
      [app.id, {}, '/totp'],
      [app.id, { passkey: {} }, '/passkey'],
      [app.id, { totp: totpApp(app.totp.secret).code(), passkey: {} }, '/passkey'],
      [key.id, {}, '/passkey'],
      [key.id, { passkey: {} }, '/passkey'],
      [key.id, { totp: '123456' }, '/totp'],
      [app.id, { totp: '12345' }, '/totp'],
      [app.id, { totp: 123_456 }, '/totp'],
      [app.id, { totp: '123456\n' }, '/totp'],
      [key.id, { passkey: 'x' }, '/passkey'],
    ]
    for (const [id, body, pointer] of cases) {
      const reply = await confirm(by, id, body)
      refused(reply, 400, 'invalid_input')
      assert.equal(pointerOf(reply), pointer, JSON.stringify(body))
    }
    refused(await confirm(by, newId(), { totp: '123456' }), 404, 'not_found')
  })

  test('of any shape is answered without a fault of the service', async () => {
    const by = await aUser()
    const { id, passkey } = await begin(by, 'passkey')
    const good = softwareAuthenticator(origin).create(passkey)
    const bad = [null, 0, '', 'a', 'é', 'a'.repeat(10_000), [], [[[]]], {}, { a: { b: {} } }, true]
    for (const value of bad) {
      for (const name of ['id', 'rawId', 'type', 'response']) {
        refused(await confirm(by, id, { passkey: { ...good, [name]: value } }), 400, 'invalid_input')
      }
      for (const name of ['clientDataJSON', 'attestationObject']) {
        const response = { ...good.response, [name]: value }
        refused(await confirm(by, id, { passkey: { ...good, response } }), 400, 'invalid_input')
      }
    }
    const more = { clientExtensionResults: [], authenticatorAttachment: 7, other: { deep: [null] } }
    assert.equal((await confirm(by, id, { passkey: { ...good, ...more } })).status, 200)
  })
})

suite('a user', () => {
  const begun = async (user: Member) =>
    (await house.asSuperuser('select id from second_factor where user_id = $1', [user.id])).length

  test('has at most ten second factors, also when they are begun at once', async () => {
    const by = await addApp(await aUser())
    await stage.forgetUse(by.user)
    const strong = await stage.withFactor(by.user, { totp: by.app.code() })
    const replies = await Promise.all(
      Array.from({ length: 14 }, () => as(strong, 'POST', factorsUrl, { kind: 'totp' })),
    )
    assert.deepEqual(replies.map(({ status }) => status).sort(), [...Array(9).fill(201), ...Array(5).fill(422)])
    assert.equal(await begun(by.user), 10)
    // Those that nobody confirmed in time make room.
    await house.asSuperuser(`update second_factor set created_at = now() - interval '601 seconds' where user_id = $1`, [
      by.user.id,
    ])
    assert.equal((await as(strong, 'POST', factorsUrl, { kind: 'totp' })).status, 201)
    assert.equal(await begun(by.user), 2)
  })

  test('of a provider sets up none here, and nor does an API key', async () => {
    const user = await member(tenant)
    const by = await withPassword(user)
    await house.asSuperuser(`update tenant_user set auth_provider = 'oidc' where id = $1`, [user.id])
    refused(await as(by, 'POST', factorsUrl, { kind: 'totp' }), 403, 'forbidden')
    const { api_key } = tenant.owner
    for (const [method, url, body] of [
      ['GET', factorsUrl, undefined],
      ['POST', factorsUrl, { kind: 'totp' }],
      ['POST', `${factorsUrl}/${newId()}/confirm`, { totp: '123456' }],
      ['DELETE', `${factorsUrl}/${newId()}`, undefined],
      ['POST', '/v1/users/me/recovery-codes', undefined],
    ] as const) {
      const reply = await house.call({ method, url, api_key, tenant_id: tenant.tenant_id, ...(body && { body }) })
      refused(reply, 401, 'unauthenticated')
    }
  })
})
