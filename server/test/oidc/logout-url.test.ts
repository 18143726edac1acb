import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { cheapPassword } from '../support/house.ts'
import { openLogoutStage, type SignedIn } from '../support/logout-stage.ts'
import { rewrittenDatabase } from '../support/rewritten-database.ts'
import { own } from '../support/sign-in-stage.ts'

/** What a sign-out returns of the provider. In any case, it has ended the session. */
let fails: RegExp | undefined
const { house, tenant, provider, operators, isAlive } = await openLogoutStage((database) =>
  rewrittenDatabase(database, (statement) => {
    if (fails?.test(statement.text)) throw new Error('the database is gone')
    return statement
  }),
)

/** Signs out, asserts that the session has ended, and returns the provider’s address. */
async function signOut(session: SignedIn): Promise<unknown> {
  const { token, tenant_id } = session
  const reply = await house.call({ method: 'POST', url: '/v1/auth/logout', token, tenant_id })
  assert.deepEqual([reply.status, Object.keys(reply.body)], [200, ['provider_logout_url']], reply.text)
  assert.ok(!(await isAlive(session)))
  return reply.body.provider_logout_url
}

suite('a sign-out returns the address of the provider’s', () => {
  test('with the client, so that the provider knows who asks', async () => {
    const end_session_endpoint = 'https://id.example.com/out?a=1&b=%20'
    const metadata = (good: object) => ({ ...good, end_session_endpoint })
    const { signIn } = await provider(await tenant(), { metadata })
    const url = new URL(String(await signOut(await signIn('anna'))))
    assert.equal(url.origin + url.pathname, 'https://id.example.com/out')
    assert.deepEqual(Object.fromEntries(url.searchParams), { a: '1', b: ' ', client_id: own.client_id })
  })

  const unusable = [
    'javascript:alert(1)',
    'JavaScript:alert(1)//https://id.example.com',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'blob:https://id.example.com/x',
    'vbscript:x',
    'file:///etc/passwd',
    'ftp://id.example.com/out',
    '//id.example.com/out',
    '/out',
    '',
    'https://',
    null,
    7,
    ['https://id.example.com/out'],
    { href: 'https://id.example.com/out' },
  ]
  for (const end_session_endpoint of [undefined, ...unusable]) {
    test(`but none if that is ${JSON.stringify(end_session_endpoint)}`, async () => {
      const metadata = (good: object) => ({ ...good, end_session_endpoint })
      const { signIn } = await provider(await tenant(), { metadata })
      assert.equal(await signOut(await signIn('anna')), null)
    })
  }

  test('but none to a user who signed in with a password', async () => {
    const of = await tenant()
    await provider(of, { metadata: (good) => ({ ...good, end_session_endpoint: 'https://id.example.com/out' }) })
    const body = { email: 'owner@example.com', password: cheapPassword.text }
    const { tenant_id } = of
    const { status, body: signedIn } = await house.call({ method: 'POST', url: '/v1/auth/login', body, tenant_id })
    assert.equal(status, 200)
    assert.equal(await signOut({ token: String(signedIn.token), tenant_id, user_id: of.owner.user_id }), null)
  })
})

suite('a sign-out while nothing is known of the provider’s', () => {
  test('returns nothing of a provider that is down', async () => {
    const { realm, signIn, configure } = await provider(await tenant())
    const anna = await signIn('anna')
    await configure({ client_secret: 'another secret' })
    realm.misdeed = { answer: { discovery: (good) => ({ ...good, status: 503 }) } }
    assert.equal(await signOut(anna), null)
  })

  test('waits no longer than a moment for a provider that does not answer', async () => {
    const { realm, signIn, configure } = await provider(await tenant())
    const anna = await signIn('anna')
    await configure({ client_secret: 'another secret' })
    realm.misdeed = { answer: { discovery: () => 'drip' } }
    assert.equal(await signOut(anna), null)
  })

  test('returns nothing if the database fails after the session has ended', async () => {
    const { signIn } = await provider(await tenant())
    const anna = await signIn('anna')
    fails = /sign_in_setting/
    assert.equal(await signOut(anna), null)
    fails = undefined
  })

  test('returns nothing of the global provider either', async () => {
    assert.equal(await signOut(await operators.signIn('gina', {}, await tenant())), null)
  })
})
