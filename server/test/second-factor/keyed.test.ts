import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { ownPasswordOf } from '../../src/users/sign-in-failure.ts'
import { operations, type Reply } from '../support/house.ts'
import { factorsUrl, type Member, openFactorStage, password } from '../support/second-factor-stage.ts'
import { totpApp } from '../support/totp-app.ts'

/** What a call with an `Idempotency-Key` showed is shown again to the session that called, and to no other of the same user. */
const stage = await openFactorStage()
const { house, member, withPassword, withFactor, begin, addApp, as, ageSessions } = stage
const tenant = await house.tenant('keyed')

type By = { user: Member; token: string }
type Sent = { url: string; body?: unknown }

/** A user with an app: the session that set it up, which had no second factor, and one that has. */
async function twoSessions(): Promise<{ user: Member; weak: By; strong: By; codes: string[] }> {
  const { codes, ...weak } = await addApp(await withPassword(await member(tenant)))
  return { user: weak.user, weak, strong: await withFactor(weak.user, { recovery_code: codes[0] }), codes }
}

/** The call with a key, which all of these calls have. */
const keyed = ({ url, body }: Sent) => {
  const headers = { 'idempotency-key': newId() }
  return (by: By) => as(by, 'POST', url, body, headers)
}
const isReplay = ({ headers }: Reply) => headers['idempotency-replayed'] === 'true'
const isRefused = (reply: Reply) => {
  assert.deepEqual([reply.status, reply.body.code, isReplay(reply)], [403, 'sign_in_again', false], reply.text)
}

/** The calls whose answer shows a secret of the second factor. */
const showing: Record<string, (by: By) => Promise<Sent>> = {
  'new recovery codes': async () => ({ url: '/v1/users/me/recovery-codes' }),
  'the secret of an app': async () => ({ url: factorsUrl, body: { kind: 'totp' } }),
  'a confirmed app': async (by) => {
    const { id, totp } = await begin(by, 'totp')
    return { url: `${factorsUrl}/${id}/confirm`, body: { totp: totpApp(totp.secret).code() } }
  },
}

suite('the answer of a call with a key', () => {
  for (const [what, sent] of Object.entries(showing)) {
    test(`that shows ${what} is repeated to its session, and to no weaker one of the user (A22)`, async () => {
      const { weak, strong } = await twoSessions()
      const send = keyed(await sent(strong))
      const first = await send(strong)
      assert.ok(first.status < 300, first.text)
      const again = await send(strong)
      assert.deepEqual([again.status, again.text, isReplay(again)], [first.status, first.text, true])
      isRefused(await send(weak))
    })

    test(`that shows ${what} is not repeated once the sign-in of its session is an hour old (A22)`, async () => {
      const { user, strong } = await twoSessions()
      const send = keyed(await sent(strong))
      assert.ok((await send(strong)).status < 300)
      await ageSessions(user, 3_601)
      isRefused(await send(strong))
    })
  }

  test('that shows the first recovery codes is repeated to the session that set the factor up, which had none', async () => {
    const by = await withPassword(await member(tenant))
    const { id, totp } = await begin(by, 'totp')
    const send = keyed({ url: `${factorsUrl}/${id}/confirm`, body: { totp: totpApp(totp.secret).code() } })
    const first = await send(by)
    assert.equal((first.body.recovery_codes as string[]).length, 10)
    const other = await withFactor(by.user, { recovery_code: (first.body.recovery_codes as string[])[0] })
    assert.equal((await send(by)).text, first.text)
    const { status, body } = await send(other)
    assert.deepEqual([status, body.code], [404, 'not_found'])
  })

  test('that changed the password tells another session nothing about it, and each guess counts', async () => {
    const user = await member(tenant)
    const body = { current_password: password, new_password: 'another long enough password' }
    const send = keyed({ url: '/v1/users/me/password', body })
    const by = await withPassword(user)
    assert.equal((await send(by)).status, 204)
    assert.ok(isReplay(await send(by)))
    const { body: signedIn } = await stage.login(user, body.new_password)
    const { status, body: refusal } = await send({ user, token: String(signedIn.token) })
    assert.deepEqual([status, refusal.code], [400, 'invalid_input'])
    const counted = await house.asSuperuser('select failures from sign_in_failure where account_hash = $1', [
      ownPasswordOf(user.id),
    ])
    assert.deepEqual(counted, [{ failures: 1 }])
  })

  test('that shows an API key is repeated to its session alone, and to the key that called', async () => {
    const { tenant_id, owner } = tenant
    const headers = { 'idempotency-key': newId() }
    const body = { name: 'a key', scopes: [] }
    const make = (by: object) =>
      house.call({
        method: 'POST',
        url: '/v1/api-keys',
        tenant_id,
        body: { ...body, scopes: ['users:read'] },
        headers,
        ...by,
      })
    const other = await house.signInAgain(tenant_id, owner)
    const made: Reply[] = []
    for (const by of [{ token: owner.token }, { token: other.token }, { api_key: owner.api_key }]) {
      const first = await make(by)
      assert.deepEqual([first.status, isReplay(first)], [201, false], first.text)
      assert.equal((await make(by)).text, first.text)
      made.push(first)
    }
    assert.equal(new Set(made.map(({ body: key }) => key.key)).size, 3)
  })

  test('of any other change belongs to the person: after a new sign-in it is repeated', async () => {
    const { weak, strong } = await twoSessions()
    const headers = { 'idempotency-key': newId() }
    const send = (by: By) => as(by, 'PATCH', '/v1/users/me/preferences', {}, headers)
    const first = await send(strong)
    assert.equal(first.status, 200, first.text)
    assert.ok(isReplay(await send(weak)))
  })
})

test('every operation that itself asks for a stronger sign-in, and shows something, keeps its answer for the session', () => {
  const asking = Object.entries(operations).filter(
    ([, { errors, reply }]) => errors.includes('sign_in_again') && reply !== null,
  )
  assert.ok(asking.length >= 3)
  for (const [operationId, { keyOfSession }] of asking) assert.ok(keyOfSession, operationId)
})
