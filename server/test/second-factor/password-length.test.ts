import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTenant } from '../../src/tenants/create-tenant.flow.ts'
import { type Member, openFactorStage, password } from '../support/second-factor-stage.ts'

/** A password that is alone is longer than one beside a second factor. */
const stage = await openFactorStage()
const { house, member, withPassword, addApp, as } = stage

/** A password of this length that is in no list. */
const ofLength = (length: number) => 'vqxkzjwphgmtrnbd'.slice(0, length)

const change = (by: { user: Member; token: string }, new_password: string) =>
  as(by, 'POST', '/v1/users/me/password', { current_password: password, new_password })
/** Whether the text is long enough for the user, whose password it becomes. */
async function isLongEnough(by: { user: Member; token: string }, length: number): Promise<boolean> {
  const reply = await change(by, ofLength(length))
  if (reply.status === 204) return true
  assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'], reply.text)
  const { fields } = reply.body.details as { fields: { pointer: string }[] }
  assert.deepEqual(
    fields.map(({ pointer }) => pointer),
    ['/new_password'],
  )
  return false
}

/** Sets the length, or takes it back to the default of a new tenant. */
async function tenantWith(value?: string) {
  const tenant = await house.tenant(`with ${value ?? 'the default'}`)
  const { tenant_id, owner } = tenant
  const url = '/v1/settings/auth.password_min_length'
  if (value !== undefined) {
    const reply = await house.call({ method: 'PUT', url, api_key: owner.api_key, tenant_id, body: { value } })
    assert.equal(reply.status, 200, reply.text)
  }
  return tenant
}

suite('a new password', () => {
  const lengths: [string, string | undefined, boolean, number][] = [
    ['alone, by default', undefined, false, 15],
    ['beside a second factor, by default', undefined, true, 8],
    ['alone, where the tenant has set 10', '10', false, 10],
    ['beside a second factor, where the tenant has set 10', '10', true, 10],
    ['beside a second factor, where the tenant has set 15', '15', true, 15],
    ['alone, where the tenant has set 8', '8', false, 8],
  ]
  for (const [name, value, hasFactor, least] of lengths) {
    test(`has ${least} characters ${name}`, async () => {
      const by = await withPassword(await member(await tenantWith(value)))
      if (hasFactor) await addApp(by)
      assert.equal(await isLongEnough(by, least - 1), false)
      assert.equal(await isLongEnough(by, least), true)
    })
  }

  test('is not short for a factor that was not confirmed', async () => {
    const by = await withPassword(await member(await tenantWith()))
    await stage.begin(by, 'totp')
    assert.equal(await isLongEnough(by, 14), false)
  })

  test('of a user who is created has 15 characters by default, and what the tenant has set', async () => {
    for (const [value, least] of [
      [undefined, 15],
      ['9', 9],
    ] as const) {
      const { tenant_id, owner } = await tenantWith(value)
      const create = async (length: number) => {
        const body = { email: `of-${length}@example.com`, name: 'New', roles: ['user'], password: ofLength(length) }
        return (await house.call({ method: 'POST', url: '/v1/users', api_key: owner.api_key, tenant_id, body })).status
      }
      assert.deepEqual([await create(least - 1), await create(least)], [400, 201])
    }
  })

  test('of the first owner of a tenant has 15 characters', async () => {
    const owner = { email: 'first@example.com', name: 'First' }
    const create = (length: number) =>
      createTenant(house.database, { name: 'New', owner: { ...owner, password: ofLength(length) } })
    await assert.rejects(create(14), /password/)
    assert.ok(await create(15))
  })
})

test('the setting shows its default, and what it is for a user with a second factor', async () => {
  const { tenant_id, owner } = await tenantWith()
  const url = '/v1/settings/auth.password_min_length'
  const { body } = await house.call({ method: 'GET', url, api_key: owner.api_key, tenant_id })
  assert.equal(body.value, '15')
})
