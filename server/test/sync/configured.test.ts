import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../support/house.ts'
import { member, syncStage } from '../support/sync-stage.ts'

/** Who may say where a directory is read: what is read makes users, and puts them into groups that give roles. */
const house = await openHouse()
const config = { protocol: 'scim', base_url: 'https://other.example/scim', token: 'another' }
const needed = ['identity_providers:write', 'users:write', 'groups:write', 'api_keys:write']

suite('who says where a directory is read', async () => {
  const stage = await syncStage(house, await house.tenant('Acme'))
  const { said, sync, call, url, people, tenant_id } = stage
  let count = 0
  /** What a user with these scopes is answered. */
  const as = async (scopes: readonly string[], method: string, path: string, body: object) => {
    count += 1
    const role = await call('POST', '/v1/roles', { name: `role ${count}`, scopes })
    await call('PUT', `/v1/users/${people.user.user_id}/roles`, { roles: [role.body.id] })
    const reply = await house.call({ method, url: path, tenant_id, token: people.user.token, body })
    return [reply.status, reply.body.details]
  }

  test('needs the scopes to write users and groups', async () => {
    const body = { name: 'Mine', provider_type: 'directory_b', config }
    const few = await as(['identity_providers:write'], 'POST', '/v1/identity-providers', body)
    assert.deepEqual(few, [403, { scopes: ['api_keys:write', 'users:write', 'groups:write'] }])
    assert.equal((await as(needed, 'POST', '/v1/identity-providers', body))[0], 201)
    const pushes = { name: 'Pushes', provider_type: 'directory_b' }
    assert.equal((await as(['identity_providers:write'], 'POST', '/v1/identity-providers', pushes))[0], 201)
  })

  test('needs every scope that its users hold and its groups give', async () => {
    said.pages = [{ people: [member('a')], groups: [{ id: 'g', name: 'Desk', member_ids: [] }] }]
    await sync()
    const [group] = await house.asSuperuser<{ id: string }>(
      "select id from tenant_group where tenant_id = $1 and source = 'identity_provider'",
      [tenant_id],
    )
    await call('PUT', `/v1/groups/${group?.id}/role-mappings`, { role_ids: ['approver'] })
    const [status, details] = await as(needed, 'PATCH', url, { config })
    assert.equal(status, 403)
    assert.deepEqual((details as { scopes: string[] }).scopes.includes('requests:approve'), true)
    const pushed = await as(needed, 'PATCH', url, { config: {} })
    assert.equal(pushed[0], 403, 'also who says that it is read no more, and pushes')
    assert.equal((await as(needed, 'PATCH', url, { name: 'Another name' }))[0], 200)
    const refusals = await house.asSuperuser<{ count: number }>(
      `select count(*)::integer from event where tenant_id = $1 and type = 'access.refused' and subject_id = $2`,
      [tenant_id, stage.id],
    )
    assert.equal(refusals[0]?.count, 2)
  })

  test('sends the token to the address that was said with it alone', async () => {
    const kept = { ...config, base_url: 'https://thief.example/scim', token: '[redacted]' }
    const reply = await call('PATCH', url, { config: kept })
    assert.equal(reply.status, 400)
    assert.match(String(reply.body.message), /would send the kept secret elsewhere/)
    const shown = await call('GET', url)
    assert.deepEqual(shown.body.config, {
      protocol: 'scim',
      base_url: 'https://directory.example/scim',
      token: '[redacted]',
    })
  })
})
