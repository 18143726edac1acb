import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { openIdentityProvider } from '../support/identity-provider.ts'
import {
  anna,
  answerOf,
  asGlobal,
  elsewhere,
  openProviderOfAll,
  openSignInStage,
  own,
  redirect_uri,
} from '../support/sign-in-stage.ts'

/** The values that a sign-in is bound to. */
const idp = await openProviderOfAll()
const stage = await openSignInStage(idp, asGlobal(idp))
const { tenant, configure, begin, finish, walk, assertRefused, usersOf, house } = stage

suite('the state of a sign-in', () => {
  beforeEach(() => configure())

  test('is valid once, with the same code or another (O1)', async () => {
    const begun = await walk('carl-1')
    assert.equal((await finish(begun)).status, 200)
    await assertRefused(await finish(begun), 'state_used')
    const { code } = await walk('carl-1')
    await assertRefused(await finish({ ...begun, code }), 'state_used')
  })

  test('is valid once if many calls are concurrent (O1)', async () => {
    const begun = await walk('carl-2')
    const replies = await Promise.all(Array.from({ length: 8 }, () => finish(begun)))
    assert.equal(replies.filter((reply) => reply.status === 200).length, 1)
  })

  test('is refused when it was altered in any character, cut, doubled or made up (O2)', async () => {
    const begun = await walk('carl-3')
    const { state = '' } = begun
    const altered = [...state].map(
      (letter, at) => `${state.slice(0, at)}${letter === '1' ? '2' : '1'}${state.slice(at + 1)}`,
    )
    const others = [
      state.slice(0, -1),
      `${state}.`,
      `${state}=`,
      ` ${state}`,
      state.toUpperCase(),
      state.replace(/\w$/, 'é'),
    ]
    for (const bad of ['', 'null', ...altered, ...others]) await assertRefused(await finish({ ...begun, state: bad }))
    assert.equal((await finish(begun)).status, 200, 'none of them used it up')
  })

  test('that is null differs from an absent one (O2)', async () => {
    const begun = await walk('carl-4')
    const reply = await finish({ ...begun, state: null as unknown as string })
    assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
  })

  test('of another tenant leads to that tenant, where the code is invalid (O2)', async () => {
    const other = await house.tenant('another')
    await configure({}, other)
    const ours = await walk('carl-5')
    const theirs = await walk('carl-5', anna, other)
    const crossed = await finish({ ...ours, state: theirs.state ?? '' })
    await assertRefused(crossed, 'provider', other)
    assert.deepEqual([await usersOf(), await usersOf(other)], [[], []])
  })

  test('expires after ten minutes, by the database’s clock (O2)', async () => {
    const begun = await walk('carl-6')
    await house.asSuperuser('update sign_in_state set expires_at = clock_timestamp() where tenant_id = $1', [
      tenant().tenant_id,
    ])
    await assertRefused(await finish(begun), 'state_expired')
    const [left] = await house.asSuperuser<{ seconds: number }>(
      `insert into sign_in_state (tenant_id, id, issuer, client_id, redirect_uri, nonce, code_verifier)
        values ($1, gen_random_uuid(), '', '', '', '', '')
        returning extract(epoch from expires_at - clock_timestamp())::float as seconds`,
      [tenant().tenant_id],
    )
    assert.ok((left?.seconds ?? 0) > 595 && (left?.seconds ?? 0) <= 600)
    await house.asSuperuser('update sign_in_state set expires_at = clock_timestamp()')
    await begin()
    const rows = await house.asSuperuser('select id from sign_in_state where tenant_id = $1', [tenant().tenant_id])
    assert.equal(rows.length, 1, 'expired states are deleted')
  })

  test('left out leads to the global provider, where the code is invalid (O3)', async () => {
    const { state: _, ...stripped } = await walk('carl-7')
    await assertRefused(await finish(stripped))
    await assertRefused(await finish({ ...stripped, redirect_uri: elsewhere }))
    assert.deepEqual(await usersOf(), [])
  })

  test('binds the nonce and the PKCE verifier: another of either is refused (O4)', async () => {
    for (const column of ['nonce', 'code_verifier']) {
      const begun = await walk('carl-8')
      const other = 'a'.repeat(43)
      await house.asSuperuser(`update sign_in_state set ${column} = $2 where tenant_id = $1`, [
        tenant().tenant_id,
        other,
      ])
      await assertRefused(await finish(begun), 'provider')
    }
    assert.deepEqual(await usersOf(), [])
  })

  test('binds the redirect_uri: another is refused before any provider is called (O6)', async () => {
    const others = [
      elsewhere,
      `${redirect_uri}/`,
      `${redirect_uri}?x`,
      `${redirect_uri}#x`,
      redirect_uri.toUpperCase(),
      'https://app.example.com:443/back',
      'https://evil@app.example.com/back',
    ]
    for (const bad of others) {
      const begun = await walk('carl-9')
      const before = idp.requestedPaths.length
      await assertRefused(await finish({ ...begun, redirect_uri: bad }), 'redirect_uri')
      assert.equal(idp.requestedPaths.length, before)
      const atBegin = await begin(tenant().tenant_id, {}, bad)
      assert.deepEqual([atBegin.status, atBegin.body.code], [400, 'invalid_input'])
    }
  })

  test('binds the provider: another `iss` is refused before any provider is called (O5)', async () => {
    const begun = await walk('carl-10')
    const before = idp.requestedPaths.length
    await assertRefused(await finish({ ...begun, iss: 'https://evil.example' }), 'other_issuer')
    assert.equal(idp.requestedPaths.length, before)
  })
})

suite('a code', () => {
  beforeEach(() => configure())

  test('that was redeemed is refused, also with a fresh state (O7)', async () => {
    const begun = await walk('dora-1')
    assert.equal((await finish(begun)).status, 200)
    await assertRefused(await finish({ ...(await walk('dora-1')), code: begun.code }), 'provider')
  })

  test('is sent as one parameter whatever it contains (O7)', async () => {
    for (const code of ['x&client_id=portal', 'x\r\nX-Injected: y', 'é%00+ =']) {
      await assertRefused(await finish({ ...(await walk('dora-2')), code }), 'provider')
    }
  })

  test('whose token is not signed by a key of the provider is refused (O8)', async () => {
    const forged = await openIdentityProvider([{ ...own, pkce: true }])
    await forged.publishOtherKeys()
    await configure({ issuer: forged.issuer })
    const begun = await begin()
    const back = await forged.signIn(String(begun.headers.location), 'dora-3', anna)
    await assertRefused(await finish(answerOf(back)), 'provider')
    assert.deepEqual(await usersOf(), [])
  })
})

suite('a sign-in that a browser began (O15)', () => {
  const browser = { 'sec-fetch-mode': 'navigate', accept: 'text/html' }
  const page = { origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'same-origin' }
  beforeEach(() => configure())

  const walkInBrowser = async (headers: Record<string, string> = browser) => {
    const begun = await begin(tenant().tenant_id, headers)
    const [cookie = ''] = String(begun.headers['set-cookie']).split(';')
    const back = await idp.signIn(String(begun.headers.location), 'eve', anna)
    return { answer: answerOf(back), cookie, set: String(begun.headers['set-cookie']) }
  }

  test('ends only in that browser', async () => {
    const { answer, cookie, set } = await walkInBrowser()
    assert.match(set, /^sallyport-sign-in=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/)
    assert.equal((await finish(answer, { ...page, cookie: `other=1; ${cookie}` })).status, 200)
  })

  test('is refused in another browser, and outside any browser', async () => {
    const other = await walkInBrowser()
    for (const headers of [page, { ...page, cookie: other.cookie }, {}] as Record<string, string>[]) {
      const { answer } = await walkInBrowser()
      await assertRefused(await finish(answer, headers), 'other_browser')
    }
  })

  test('keeps the browser’s existing cookie, so that two tabs can sign in', async () => {
    const first = await walkInBrowser()
    const second = await walkInBrowser({ ...browser, cookie: first.cookie })
    assert.equal(second.cookie, first.cookie)
    assert.equal((await finish(first.answer, { ...page, cookie: first.cookie })).status, 200)
  })

  test('cannot be replaced by one begun elsewhere: a foreign link signs no user in', async () => {
    const strangers = await walk('mallory-2')
    await assertRefused(await finish(strangers, page), 'not_begun_by_browser')
  })
})
