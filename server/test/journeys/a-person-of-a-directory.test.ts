import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { enterpriseSchema } from '../../src/scim/attribute.ts'
import type { Page, Reply } from '../support/client.ts'
import { openIdentityProvider } from '../support/identity-provider.ts'
import { configOf, letManageLogins, setUpByGuide } from '../support/postgresql-stage.ts'
import { startOnTestServer } from '../support/sallyport.ts'
import { scimClientAt } from '../support/scim-client.ts'
import { answerOf, own, redirect_uri } from '../support/sign-in-stage.ts'
import { startTargetPostgres } from '../support/target-postgres.ts'
import { until } from '../support/wait.ts'

type Made = { id: string }
type Grant = Made & { status: string; provisioning_status: string; last_error: string | null }
type AuditEvent = { type: string; data: Record<string, unknown> }

const database = 'arn:aws:rds:eu-west-1:111111111111:db:orders'
/** Her login is the guide’s. */
const [ada, password] = ['ada@example.com', 'a password of her own']
const grace = 'grace@example.com'

/** The whole way of a person: made, signed in, given access, and stopped by the directory. */
suite('a person whom a directory manages', async () => {
  const server = await startTargetPostgres(18)
  after(server.stop)
  await setUpByGuide(server)
  await letManageLogins(server)
  const idp = await openIdentityProvider([{ ...own, pkce: true }])
  const sallyport = await startOnTestServer({ EGRESS_ALLOW: '127.0.0.1' })
  const { tenant_id, api_key } = sallyport.bootstrap
  const owner = sallyport.client({ api_key })

  const done = <Body>({ status, body }: Reply<Body>): Body => {
    assert.ok(status < 300, JSON.stringify([status, body]))
    return body
  }
  const provider = done(
    await owner<Made>('POST', '/v1/identity-providers', { name: 'Directory', provider_type: 'custom_scim' }),
  )
  const { key } = done(
    await owner<{ key: string }>('POST', '/v1/api-keys', { name: 'scim', identity_provider_id: provider.id }),
  )
  const scim = scimClientAt(sallyport.base_url, { id: provider.id, key })
  const { issuer } = idp
  const setting = { issuer, ...own, redirect_uris: [redirect_uri], identity_provider_id: provider.id }
  done(await owner('PUT', '/v1/settings/sign-in', setting))

  const policy = done(await owner<Made>('POST', '/v1/policies', { name: 'Reading' }))
  for (const policy_text of [
    `permit (principal, action == Action::"read", resource)
      when { principal has department && principal.department == "Platform" };`,
    `permit (principal, action == Action::"approve", resource)
      when { resource.requester has manager && resource.requester.manager == principal };`,
  ]) {
    done(await owner('POST', `/v1/policies/${policy.id}/rules`, { policy_text }))
  }
  done(
    await owner('POST', '/v1/provisioners', {
      name: 'orders',
      provisioner_type: 'postgresql',
      config: configOf(server, { resource_ids: [database], manages_logins: true }),
      serves: [{ resource_type: 'cloud_db_instance', resource_ids: [database] }],
    }),
  )

  const made = async (path: string, body: object) => {
    const { status, body: resource, text } = await scim('POST', path, body)
    assert.equal(status, 201, text)
    return String(resource.id)
  }
  /** Signs in at the provider, and returns the token. */
  const signIn = async (email: string, account: string) => {
    const query = new URLSearchParams({ tenant: tenant_id, redirect_uri })
    const begun = await sallyport.client(undefined)('GET', `/v1/auth/authorize?${query}`)
    const claims = { email, email_verified: true, name: email }
    const answer = answerOf(await idp.signIn(begun.headers.get('location') ?? '', account, claims))
    return sallyport.client(undefined)<{ token: string }>('POST', '/v1/auth/callback', answer)
  }
  const clientOf = async (email: string, account: string) =>
    sallyport.client({ token: done(await signIn(email, account)).token })
  const ask = async (by: typeof owner) => {
    const wanted = { resource: { type: 'cloud_db_instance', id: database }, action: 'read', reason: 'a look' }
    return done(await by<Made>('POST', '/v1/requests', wanted)).id
  }
  /** What the database itself says of her login. */
  const atDatabase = async () => {
    const [row] = await server.asSuperuser<{ can_log_in: boolean; roles: number }>(
      `select r.rolcanlogin as can_log_in, (select count(*)::integer from pg_auth_members m
        where m.member = r.oid) as roles from pg_roles r where r.rolname = $1`,
      [ada],
    )
    return row
  }
  const eventsOf = async (subject: string) =>
    done(await owner<Page<AuditEvent>>('GET', `/v1/audit-events?subject=${subject}&limit=100`)).data

  test('is made, asks her manager, reads, and loses everything at once when the directory says so', async () => {
    // Directories send people before their managers.
    const id = await made('/Users', {
      userName: ada,
      externalId: 'ada-at-provider',
      [enterpriseSchema]: { department: 'Platform', manager: { value: 'grace-at-provider' } },
    })
    const manager = await made('/Users', { userName: grace, externalId: 'grace-at-provider' })
    const group = await made('/Groups', { displayName: 'Managers', members: [{ value: manager }] })
    done(await owner('PUT', `/v1/groups/${group}/role-mappings`, { role_ids: ['approver'] }))

    const asAda = await clientOf(ada, 'ada-at-provider')
    const asGrace = await clientOf(grace, 'grace-at-provider')
    assert.equal(done(await asAda<Made>('GET', '/v1/users/me')).id, id)
    const request = await ask(asAda)
    done(await asGrace('POST', `/v1/requests/${request}/approve`, {}))
    const grantNow = async () => {
      const { data } = done(await owner<Page<Grant>>('GET', `/v1/grants?request_id=${request}`))
      return data[0]
    }
    const grant = await until('the access is given', async () => {
      const now = await grantNow()
      assert.notEqual(now?.status, 'failed', now?.last_error ?? '')
      return now?.status === 'active' && now
    })
    const client = await server.signIn(ada, password)
    assert.deepEqual((await client.query('select number from orders')).rows, [{ number: 42 }])
    assert.deepEqual(await atDatabase(), { can_log_in: true, roles: 1 })
    const waiting = await ask(asAda)

    const stopped = await scim('PATCH', `/Users/${id}`, {
      Operations: [{ op: 'Replace', path: 'active', value: 'False' }],
    })
    assert.deepEqual([stopped.status, stopped.body.active], [200, false], stopped.text)
    assert.equal((await asAda('GET', '/v1/users/me')).status, 401)
    assert.equal((await signIn(ada, 'ada-at-provider')).status, 401)
    await until('the database has her access no longer', async () => {
      const now = await atDatabase()
      return now?.can_log_in === false && now.roles === 0
    })
    await assert.rejects(client.query('select 1'))
    await assert.rejects(server.signIn(ada, password), /is not permitted to log in/)
    await until('the grant says so', async () => (await grantNow())?.provisioning_status === 'deprovisioned')

    assert.equal(done(await owner<{ status: string }>('GET', `/v1/requests/${waiting}`)).status, 'cancelled')
    const revoked = done(await owner<{ end_reason: string }>('GET', `/v1/grants/${grant.id}`))
    const reason = 'its holder was deactivated in the directory'
    assert.equal(revoked.end_reason, reason)
    const found = async (subject: string, type: string) =>
      (await eventsOf(subject)).find((event) => event.type === type)?.data
    assert.deepEqual(await found(id, 'user.deactivated'), { identity_provider_id: provider.id })
    assert.equal((await found(waiting, 'request.cancelled'))?.reason, reason)
    assert.ok(await found(grant.id, 'grant.revoked'))
  })
})
