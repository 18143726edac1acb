import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, test } from 'node:test'
import { openHouse, type TestTenant } from '../support/house.ts'
import { until } from '../support/wait.ts'

/** The limits on guesses at one account, and the records of them. */
const house = await openHouse()
const right = 'a long enough password'
const email = 'owner@example.com'

let tenant: TestTenant
let tenants = 0
beforeEach(async () => {
  tenants += 1
  tenant = await house.tenant(`accounts ${tenants}`)
})

const signIn = (address: string, password: string, tenant_id = tenant.tenant_id) =>
  house.call({ method: 'POST', url: '/v1/auth/login', tenant_id, body: { email: address, password } })

/** Everything that a caller sees, except the clock. */
async function seen(address: string, password: string, tenant_id = tenant.tenant_id) {
  const { status, body, headers } = await signIn(address, password, tenant_id)
  const { retry_after_seconds, ...details } = (body.details ?? {}) as Record<string, unknown>
  const others = ['retry-after', 'ratelimit', 'x-request-id', 'date', 'content-length']
  const shown = Object.entries(headers).filter(([name]) => !others.includes(name))
  if (status === 429) assert.ok(Number(retry_after_seconds) > 0 && Number(retry_after_seconds) <= 900)
  return { status, code: body.code, details, message: String(body.message).replace(/\d+/, 'N'), shown }
}

const refusals = (of = tenant) =>
  house.asSuperuser<{ subject_id: string; cause: string; times: number | null }>(
    `select subject_id, data ->> 'cause' as cause, (data ->> 'times')::int as times from event
      where tenant_id = $1 and type = 'auth.refused' order by seq`,
    [of.tenant_id],
  )

test('a known account, an unknown one, one of a provider, a deactivated one and one of no tenant are refused and limited alike (D1, D4)', async () => {
  await house.asSuperuser(
    `update tenant_user set auth_provider = case email when 'user@example.com' then 'oidc' else 'local' end,
       active = email <> 'approver@example.com' where tenant_id = $1`,
    [tenant.tenant_id],
  )
  const nowhere = randomUUID()
  const seenOf = async (address: string, tenant_id = tenant.tenant_id) => {
    const all: Awaited<ReturnType<typeof seen>>[] = []
    for (let tries = 0; tries < 12; tries += 1) all.push(await seen(address, 'wrong', tenant_id))
    return all
  }
  const known = await seenOf(email)
  assert.deepEqual(
    known.map(({ status }) => status),
    [...Array(10).fill(401), 429, 429],
  )
  for (const address of ['nobody@example.com', 'no address', 'user@example.com', 'approver@example.com']) {
    assert.deepEqual(await seenOf(address), known, address)
  }
  assert.deepEqual(await seenOf(email, nowhere), known, 'no such tenant')
  assert.deepEqual(await seen(email, right), known.at(-1), 'the right password gets the same answer')
})

test('a success does not reset failures: a user who signs in does not give a guesser ten more (D4)', async () => {
  for (let wrong = 0; wrong < 9; wrong += 1) assert.equal((await signIn(email, 'wrong')).status, 401)
  assert.equal((await signIn(email, right)).status, 200)
  assert.equal((await signIn(email, 'wrong')).status, 401)
  assert.equal((await signIn(email, right)).status, 429)
})

test('an account is one in every spelling, and another tenant’s is another', async () => {
  for (let wrong = 0; wrong < 10; wrong += 1) {
    await signIn(wrong % 2 === 0 ? 'OWNER@Example.com' : 'ｏwner@example.com', 'wrong')
  }
  assert.equal((await signIn(email, right)).status, 429)
  const beside = await house.tenant('beside')
  assert.equal((await signIn(email, right, beside.tenant_id)).status, 200)
})

test('a guess that was right is refused when the account went over its limit while it was checked', async () => {
  const guesses = [...Array<string>(25).fill('wrong'), right]
  const replies = await Promise.all(guesses.map((guess) => signIn(email, guess)))
  assert.equal(replies.filter(({ status }) => status === 401).length, 10)
  assert.equal(replies.at(-1)?.status, 429)
  const signedIn = await house.asSuperuser(`select from event where tenant_id = $1 and type = 'auth.signed_in'`, [
    tenant.tenant_id,
  ])
  assert.deepEqual(signedIn, [])
})

test('the auditor sees each failure of an account, and that more followed', async () => {
  for (let tries = 0; tries < 13; tries += 1) await signIn(email, 'wrong')
  await until('the failures are recorded', async () => (await refusals()).length === 13)
  const rows = await refusals()
  assert.deepEqual(new Set(rows.map((row) => row.subject_id)), new Set([tenant.owner.user_id]))
  assert.deepEqual(
    rows.map((row) => row.cause),
    [...Array(10).fill('wrong_password'), ...Array(3).fill('limited')],
  )
})

test('attempts at unknown accounts do not fill the audit log: it has a sample of them', async () => {
  for (let tries = 0; tries < 40; tries += 1) await signIn(`nobody-${tries}@example.com`, 'wrong')
  const rows = await refusals()
  assert.deepEqual(
    rows.map((row) => row.times),
    [...Array(20).fill(null), 32],
  )
  assert.ok(rows.every((row) => row.subject_id === 'unknown' && row.cause === 'unknown_user'))
})

test('no typed text is stored, and old records are deleted', async () => {
  for (let tries = 0; tries < 5; tries += 1) await signIn(`hunter2-${tries}`, 'wrong')
  const failures = () =>
    house.asSuperuser<{ row: string }>('select f::text as row from sign_in_failure f where tenant_id = $1', [
      tenant.tenant_id,
    ])
  assert.equal((await failures()).length, 5)
  assert.ok(!JSON.stringify(await failures()).includes('hunter2'))
  await house.asSuperuser(
    `update sign_in_failure set began_at = began_at - interval '16 minutes' where tenant_id = $1`,
    [tenant.tenant_id],
  )
  await signIn('hunter2-0', 'wrong')
  assert.equal((await failures()).length, 1)
})

test('a stolen token does not allow guessing the user’s password, and failed sign-ins do not hinder its change', async () => {
  const { token } = tenant.owner
  const change = (current_password: string) =>
    house.call({
      method: 'POST',
      url: '/v1/users/me/password',
      token,
      tenant_id: tenant.tenant_id,
      body: { current_password, new_password: 'another long enough password' },
    })
  for (let wrong = 0; wrong < 11; wrong += 1) await signIn(email, 'wrong')
  for (let wrong = 0; wrong < 10; wrong += 1) assert.equal((await change('wrong')).status, 400)
  assert.equal((await change(right)).status, 429)
  await house.asSuperuser(`update sign_in_failure set began_at = began_at - interval '15 minutes'`)
  assert.equal((await change(right)).status, 204)
})
