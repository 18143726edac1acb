import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type SystemRoleId, systemRoles } from '../src/roles/role.ts'
import { operations } from './support/house.ts'
import { addressed, sampleBodies } from './support/samples.ts'
import { openStage } from './support/stage.ts'

/** Tries every registered operation with each credential and each role, so that no operation lacks its permission check. */
const { house, ours: tenant, ourRecords: records } = await openStage()
const { tenant_id } = tenant

/** The answers of operations that have passed the permission check but lack a provider or a signature. */
const answeredInside: Record<string, string> = {
  beginAuthorization: 'not_found',
  exchangeAuthorizationCode: 'invalid_authorization_code',
  reportAccessResult: 'unauthenticated',
}
const sampleQueries: Record<string, string> = {
  beginAuthorization: `?tenant=${tenant_id}&redirect_uri=${encodeURIComponent('https://app.example.com/back')}`,
}

for (const [operationId, operation] of Object.entries(operations)) {
  const url = addressed(operation.path, records)
  const request = {
    method: operation.method,
    url,
    body: operation.body === undefined ? undefined : sampleBodies[operationId],
  }
  if (operation.credential === 'none' || operation.credential === 'tenant') {
    test(`${operationId} needs no credential`, async () => {
      const needed = operation.credential === 'tenant' ? { tenant_id } : {}
      const reply = await house.call({ ...request, ...needed, url: `${url}${sampleQueries[operationId] ?? ''}` })
      if (operationId in answeredInside) return assert.equal(reply.body.code, answeredInside[operationId])
      assert.equal(reply.status, operation.status)
    })
    continue
  }

  test(`${operationId} refuses a caller without a credential, or with an invalid one`, async () => {
    const credentials = [
      {},
      { token: 'nobody' },
      { api_key: 'sp_nobody' },
      { headers: { authorization: 'Basic YTpi' } },
    ]
    const replies = await Promise.all(
      credentials.map((credential) => house.call({ ...request, ...credential, tenant_id })),
    )
    for (const reply of replies) assert.deepEqual([reply.status, reply.body.code], [401, 'unauthenticated'])
    assert.equal(new Set(replies.map((reply) => reply.text)).size, 1, 'one answer for every cause')
  })

  test(`${operationId} refuses two credentials at once (A1), and a credential without a tenant (T3)`, async () => {
    const { token, api_key } = tenant.owner
    const both = await house.call({ ...request, token, api_key, tenant_id })
    assert.deepEqual([both.status, both.body.code], [400, 'ambiguous_credentials'])
    for (const header of [undefined, 'null', `{${tenant_id}}`, tenant_id.replaceAll('-', '')]) {
      const without = await house.call({ ...request, token, ...(header !== undefined && { tenant_id: header }) })
      assert.deepEqual([without.status, without.body.code], [400, 'invalid_input'], `X-Tenant-ID: ${header}`)
    }
  })

  if (operation.credential === 'user') {
    test(`${operationId} is only for users: an API key is refused there (A11)`, async () => {
      const reply = await house.call({ ...request, api_key: tenant.owner.api_key, tenant_id })
      assert.deepEqual([reply.status, reply.body.code], [401, 'unauthenticated'])
    })
  }

  if (operation.scope === null) continue
  for (const [role, { scopes }] of Object.entries(systemRoles)) {
    const may = (scopes as readonly string[]).includes(operation.scope)
    test(`${operationId} ${may ? 'lets' : 'refuses'} ${role}, who ${may ? 'holds' : 'lacks'} ${operation.scope}`, async () => {
      const { token, api_key } = tenant.people[role as SystemRoleId]
      for (const credential of [{ token }, { api_key }]) {
        // The invalid body shows that the permission is checked before the body, and ensures that nothing changes.
        const reply = await house.call({ ...request, ...credential, tenant_id, body: may ? request.body : '{' })
        const refused = reply.status === 403 && reply.body.code === 'forbidden' && 'scope' in Object(reply.body.details)
        assert.equal(refused, !may, `${reply.status} ${reply.text}`)
        assert.notEqual(reply.status, 401)
      }
    })
  }
}
