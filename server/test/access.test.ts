import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Operation } from '../src/http/operation.ts'
import { newId } from '../src/kernel/id.ts'
import { type SystemRoleId, systemRoles } from '../src/roles/role.ts'
import { makeSessionSecret } from '../src/sessions/session-secret.ts'
import { operations } from './support/house.ts'
import { inTurns } from './support/in-turns.ts'
import { browserOf, fromOwnPage } from './support/presented.ts'
import { sampleBodies } from './support/sample-bodies.ts'
import { addressed } from './support/samples.ts'
import { openStage } from './support/stage.ts'

/** Tries every registered operation with each credential and each role, so that no operation lacks its permission check. */
const { house, ours: tenant, ourRecords: records } = await openStage()
const { tenant_id, owner } = tenant

/** The answers of operations that have passed the permission check but lack a provider or a signature. */
const answeredInside: Record<string, string> = {
  beginAuthorization: 'not_found',
  exchangeAuthorizationCode: 'invalid_authorization_code',
  finishSecondFactor: 'unauthenticated',
  refreshSession: 'unauthenticated',
  checkSetupLink: 'unauthenticated',
  useSetupLink: 'unauthenticated',
  checkInvitation: 'unauthenticated',
  useInvitation: 'unauthenticated',
  receiveLogoutToken: 'invalid_input',
  reportAccessResult: 'unauthenticated',
}
const sampleQueries: Record<string, string> = {
  discoverTenant: '?slug=nobody',
  beginAuthorization: `?tenant=${tenant_id}&redirect_uri=${encodeURIComponent('https://app.example.com/back')}`,
}

/** A call of the operation without a credential. */
const callOf = (operationId: string, { method, path, body, credential }: Operation) => ({
  method,
  url: addressed(path, records),
  body: body === undefined ? undefined : sampleBodies[operationId],
  ...(credential === 'token' && { headers: fromOwnPage }),
})

/** A new token of the owner: some calls end the session of theirs. */
const newToken = async () => (await house.signInAgain(tenant_id, owner)).token

const cookieOf = (value: string) => ({ headers: { ...fromOwnPage, cookie: `sallyport-8080=${value}` } })
const browsers = Object.fromEntries(
  await Promise.all(
    Object.entries(tenant.people).map(async ([role, { user_id }]) => [
      role,
      { headers: await browserOf(house, tenant_id, user_id) },
    ]),
  ),
) as Record<SystemRoleId, { headers: Record<string, string> }>

/** In a usual run: each kind of credential for the first role that is refused, one for each other role; and some malformed headers. */
const kinds = ['token', 'api_key', 'browser'] as const
const someKinds = inTurns(kinds, 1)
const someMalformed = inTurns(['null', '', `{${tenant_id}}`, tenant_id.replaceAll('-', '')], 2)
const someSites = inTurns(
  [{}, { 'sec-fetch-site': 'same-site' }, { origin: 'http://127.0.0.1:8081' }, { origin: 'null' }],
  2,
)

/** For a valid credential of another kind. */
const refusalAt = (path: string) => (path.startsWith('/v1/users/me') ? [401, 'unauthenticated'] : [403, 'forbidden'])

for (const [operationId, operation] of Object.entries(operations)) {
  const request = callOf(operationId, operation)
  const { credential, tenantHeader } = operation
  if (credential === 'none' || credential === 'tenant') {
    test(`${operationId} needs no credential`, async () => {
      const needed = credential === 'tenant' ? { tenant_id } : {}
      const url = `${request.url}${sampleQueries[operationId] ?? ''}`
      const reply = await house.call({ ...request, ...needed, url })
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
      { headers: { ...request.headers, authorization: 'Basic YTpi' } },
      cookieOf('nobody'),
      cookieOf(makeSessionSecret(tenant_id, newId()).text),
    ]
    const replies = await Promise.all(credentials.map((one) => house.call({ ...request, ...one, tenant_id })))
    for (const reply of replies) assert.deepEqual([reply.status, reply.body.code], [401, 'unauthenticated'])
    assert.equal(new Set(replies.map((reply) => reply.text)).size, 1, 'one answer for every cause')
  })

  test(`${operationId} refuses two credentials at once (A1), and a credential without a tenant (T3)`, async () => {
    const { token, api_key } = owner
    const both = await house.call({ ...request, token, api_key, tenant_id })
    assert.deepEqual([both.status, both.body.code], [400, 'ambiguous_credentials'])
    for (const header of [...(tenantHeader === 'optional' ? [] : [undefined]), ...someMalformed()]) {
      const without = await house.call({ ...request, token, ...(header !== undefined && { tenant_id: header }) })
      assert.deepEqual([without.status, without.body.code], [400, 'invalid_input'], `X-Tenant-ID: ${header}`)
    }
  })

  if (tenantHeader === 'optional') {
    test(`${operationId} needs no tenant beside a token: a token names it (T3)`, async () => {
      for (const named of [{}, { tenant_id }]) {
        const reply = await house.call({ ...request, ...named, token: await newToken() })
        assert.equal(reply.status, operation.status, reply.text)
      }
    })
  }

  if (credential !== 'any') {
    test(`${operationId} is only for users: an API key is refused there (A11)`, async () => {
      const reply = await house.call({ ...request, api_key: owner.api_key, tenant_id })
      assert.deepEqual([reply.status, reply.body.code], refusalAt(operation.path))
      assert.match(String(reply.body.message), /takes no API key/)
    })
  }

  if (credential === 'token') {
    test(`${operationId} gives a session to no browser that has only a session (A11)`, async () => {
      const reply = await house.call({ ...request, ...browsers.user })
      assert.deepEqual([reply.status, reply.body.code], refusalAt(operation.path))
      assert.match(String(reply.body.message), /takes only a token/)
    })
  }

  test(`${operationId} refuses a browser at another address, and a change from another site (A12)`, async () => {
    const isForPages = credential === 'token' && operation.setsCookie
    const { headers } = isForPages ? { headers: fromOwnPage } : browsers.admin
    const sent = isForPages ? { token: await newToken() } : {}
    const { 'sec-fetch-site': _, ...unsaid } = headers
    const elsewhere = await house.call({ ...request, ...sent, headers: { ...headers, host: 'evil.example' } })
    assert.deepEqual([elsewhere.status, elsewhere.body.code], [421, 'misdirected_request'])
    // A page of another site cannot read what its request makes the browser fetch.
    if (operation.method === 'GET') return
    for (const from of someSites()) {
      const reply = await house.call({ ...request, ...sent, headers: { ...unsaid, ...from } as typeof headers })
      assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'], JSON.stringify(from))
      assert.match(String(reply.body.message), /another site/)
    }
  })

  if (operation.scope === null) continue
  const { scope } = operation
  const [refused] =
    Object.entries(systemRoles).find(([, { scopes }]) => !(scopes as readonly string[]).includes(scope)) ?? []
  for (const [role, { scopes }] of Object.entries(systemRoles)) {
    const may = (scopes as readonly string[]).includes(scope)
    test(`${operationId} ${may ? 'lets' : 'refuses'} ${role}, who ${may ? 'holds' : 'lacks'} ${operation.scope}`, async () => {
      const { token, api_key } = tenant.people[role as SystemRoleId]
      // A browser's session names the tenant itself.
      const callers = {
        token: { token, tenant_id },
        api_key: { api_key, tenant_id },
        browser: browsers[role as SystemRoleId],
      }
      for (const kind of role === refused ? kinds : someKinds()) {
        const one = callers[kind]
        // The invalid body shows that the permission is checked before the body, and ensures that nothing changes.
        const reply = await house.call({ ...request, ...one, body: may ? request.body : '{' })
        const refused = reply.status === 403 && reply.body.code === 'forbidden' && 'scope' in Object(reply.body.details)
        assert.equal(refused, !may, `${reply.status} ${reply.text}`)
        assert.notEqual(reply.status, 401)
      }
    })
  }
}
