import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHostileStage } from '../support/hostile-stage.ts'
import { makeDirectory } from '../support/scim-stage.ts'
import { claimsOf } from '../support/sign-in-stage.ts'

/** People of a directory sign in by the tenant's provider, which names the directory. */
const { set, house, assertRefused, people } = await openHostileStage()

/** A tenant with a directory, whose provider names it or not. */
async function openTenant(names = true) {
  const of = await house.tenant('with a directory')
  const directory = await makeDirectory(house, of)
  const ways = await set({}, of)
  await ways.configure({ identity_provider_id: names ? directory.id : null })
  const signIn = async (account: string, claims: object) => ways.finish(await ways.walk(account, claims))
  return { of, directory, ...ways, signIn }
}

const ada = { email: 'ada@example.com', email_verified: true, name: 'Ada' }

suite('a user of a directory', () => {
  test('signs in as the same user where the external id is the subject, whatever the address', async () => {
    const { directory, signIn, asOwner } = await openTenant()
    const { id } = await directory.user({ userName: 'ada@example.com', externalId: 'ada-at-provider' })
    const other = { ...ada, email: 'ada.lovelace@example.com' }
    assert.equal(claimsOf(await signIn('ada-at-provider', other)).sub, id)
    const shown = async () => (await asOwner('GET', `/v1/users/${id}`)).body
    const { email, email_verified } = await shown()
    assert.deepEqual([email, email_verified], ['ada@example.com', false])
    assert.equal(claimsOf(await signIn('ada-at-provider', ada)).sub, id)
    assert.equal((await shown()).email_verified, true)
    const moved = { Operations: [{ op: 'replace', path: 'userName', value: 'ada@new.example' }] }
    assert.equal((await directory.call('PATCH', `/Users/${id}`, moved)).status, 200)
    assert.deepEqual([(await shown()).email, (await shown()).email_verified], ['ada@new.example', false])
  })

  test('is not joined by an address alone (T16)', async () => {
    const { of, directory, signIn } = await openTenant()
    await directory.user({ userName: 'ada@example.com', externalId: 'ada-at-provider' })
    const before = await people(of)
    await assertRefused(await signIn('somebody-else', ada), /not_in_directory/, of)
    assert.equal(await people(of), before)
  })

  test('is not joined where the provider names no directory', async () => {
    const { of, directory, signIn } = await openTenant(false)
    await directory.user({ userName: 'ada@example.com', externalId: 'ada-at-provider' })
    await assertRefused(await signIn('ada-at-provider', ada), /directory_user/, of)
  })

  test('does not come back by a sign-in once the directory stopped or deleted them', async () => {
    const { of, directory, signIn } = await openTenant()
    const { id } = await directory.user({ userName: 'ada@example.com', externalId: 'ada-at-provider' })
    const session = await signIn('ada-at-provider', ada)
    const token = String(session.body.token)
    const me = () => house.call({ method: 'GET', url: '/v1/users/me', token, tenant_id: of.tenant_id })
    assert.equal((await me()).status, 200)
    await directory.call('PATCH', `/Users/${id}`, { Operations: [{ op: 'Replace', path: 'active', value: false }] })
    assert.equal((await me()).status, 401)
    await assertRefused(await signIn('ada-at-provider', ada), /inactive/, of)
    assert.equal((await directory.call('DELETE', `/Users/${id}`)).status, 204)
    await assertRefused(await signIn('ada-at-provider', ada), /not_in_directory/, of)
  })

  test('of another directory of the tenant is not joined', async () => {
    const { of, signIn } = await openTenant()
    const another = await makeDirectory(house, of)
    await another.user({ userName: 'ada@example.com', externalId: 'ada-at-provider' })
    await assertRefused(await signIn('ada-at-provider', ada), /not_in_directory/, of)
  })
})

test('nobody begins by an address where the provider names a directory', async () => {
  const { of, asOwner, signIn } = await openTenant()
  await asOwner('POST', '/v1/users', { email: ada.email, name: 'Ada', roles: ['user'], auth_provider: 'oidc' })
  await assertRefused(await signIn('ada', ada), /not_in_directory/, of)
  await assertRefused(await signIn('new', { ...ada, email: 'new@example.com' }), /not_in_directory/, of)
})

test('a provider cannot name a directory of another tenant, or one that does not exist', async () => {
  const { asOwner, configure } = await openTenant()
  const { directory: foreign } = await openTenant()
  const setting = (await configure({})).body
  const reply = await asOwner('PUT', '/v1/settings/sign-in', { ...setting, identity_provider_id: foreign.id })
  assert.deepEqual([reply.status, reply.body.code], [422, 'unprocessable'], reply.text)
})

test('a user who gets another external id is signed out, and joined by that one alone', async () => {
  const { of, directory, signIn } = await openTenant()
  const { id } = await directory.user({ userName: 'ada@example.com', externalId: 'mallory-at-provider' })
  const { token } = (await signIn('mallory-at-provider', ada)).body
  const me = () => house.call({ method: 'GET', url: '/v1/users/me', token: String(token), tenant_id: of.tenant_id })
  assert.equal((await me()).status, 200)
  const right = { Operations: [{ op: 'replace', path: 'externalId', value: 'ada-at-provider' }] }
  assert.equal((await directory.call('PATCH', `/Users/${id}`, right)).status, 200)
  assert.equal((await me()).status, 401)
  await assertRefused(await signIn('mallory-at-provider', ada), /not_in_directory/, of)
  assert.equal(claimsOf(await signIn('ada-at-provider', ada)).sub, id)
})
