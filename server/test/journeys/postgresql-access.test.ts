import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import pg from 'pg'
import type { Page } from '../support/client.ts'
import { sqlByHand } from '../support/guide-sql.ts'
import { configOf, letManageLogins, setUpByGuide } from '../support/postgresql-stage.ts'
import { type Person, startOnTestServer } from '../support/sallyport.ts'
import { withSecondFactor } from '../support/strong-sign-in.ts'
import { startTargetPostgres, type TargetPostgres, targetVersions } from '../support/target-postgres.ts'
import { until } from '../support/wait.ts'

type Grant = { id: string; status: string; provisioning_status: string; last_error: string | null }

const sallyport = await startOnTestServer({ EGRESS_ALLOW: '127.0.0.1' })
const owner = sallyport.client({ api_key: sallyport.bootstrap.api_key })
const policy = await owner<{ id: string }>('POST', '/v1/policies', { name: 'Reading' })
await owner('POST', `/v1/policies/${policy.body.id}/rules`, { effect: 'permit' })
const approver = await withSecondFactor(sallyport, await sallyport.join('Bob', ['approver']))

/** A server at AWS, and one outside. */
const databases = ['arn:aws:rds:eu-west-1:111111111111:db:orders', 'arn:sallyport:rds:berlin:000000000000:db:orders']

for (const [index, major] of targetVersions.entries()) {
  const managed = index === 0
  suite(`a user reads a customer's PostgreSQL ${major} for a while${managed ? ', by a managed login' : ''}`, async () => {
    const server = await startTargetPostgres(major)
    after(server.stop)
    await setUpByGuide(server)
    if (managed) await letManageLogins(server)
    const database = databases[index] ?? ''
    const made = await owner<{ id: string }>('POST', '/v1/provisioners', {
      name: `orders ${major}`,
      provisioner_type: 'postgresql',
      config: configOf(server, { resource_ids: [database], manages_logins: managed }),
      serves: [{ resource_type: 'cloud_db_instance', resource_ids: [database] }],
    })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const ada = await sallyport.join(`Ada${index}`, ['user'])
    await makeLoginOf(server, ada, managed)
    const signIn = () => server.signIn(ada.email, 'her own')

    test('the health check passes', async () => {
      const { body } = await owner<{ ok: boolean; checks: object[] }>('POST', `/v1/provisioners/${made.body.id}/test`)
      assert.ok(body.ok, JSON.stringify(body.checks))
    })

    test('a user reads while access is active; revoking it closes the connection and refuses new reads', async () => {
      const grant = await given(ada, database)
      const client = await signIn()
      assert.deepEqual((await client.query('select number from orders')).rows, [{ number: 42 }])
      await revoke(grant.id)
      await grantIs(grant.id, 'revoked', 'deprovisioned')
      await assert.rejects(client.query('select 1'))
      if (managed) await assert.rejects(signIn(), /is not permitted to log in/)
      else await assert.rejects((await signIn()).query('select number from orders'), /permission denied/)
    })

    test('access that was requested twice stays until the later end, and so do connections (R4)', async () => {
      const first = await given(ada, database)
      const client = await signIn()
      const second = await given(ada, database)
      await revoke(first.id)
      await grantIs(first.id, 'revoked', 'deprovisioned')
      assert.deepEqual((await client.query('select number from orders')).rows, [{ number: 42 }])
      await revoke(second.id)
      await grantIs(second.id, 'revoked', 'deprovisioned')
      await assert.rejects(client.query('select 1'))
    })

    test('a revocation while the server is unreachable is reported, and carried out later (F7)', async () => {
      const grant = await given(ada, database)
      const client = await signIn()
      const comeBack = await server.goAway('refuses')
      await revoke(grant.id)
      const stuck = await until('the failure is shown', async () => {
        const now = await findGrant(grant.id)
        return now?.last_error ? now : undefined
      })
      assert.match(stuck.last_error ?? '', /cannot be reached/)
      assert.deepEqual((await client.query('select number from orders')).rows, [{ number: 42 }])
      await comeBack()
      await grantIs(grant.id, 'revoked', 'deprovisioned', 90_000)
      await assert.rejects(client.query('select 1'))
    })

    test('what the guide types while Sallyport is down ends the access, and Sallyport accepts that it is gone', async () => {
      const grant = await given(ada, database)
      const client = await signIn()
      const comeBack = await server.goAway('refuses')
      await server.asSuperuser(sqlByHand(ada.email))
      await assert.rejects(client.query('select 1'))
      await assert.rejects((await signIn()).query('select number from orders'), /permission denied/)
      await comeBack()
      await revoke(grant.id)
      await grantIs(grant.id, 'revoked', 'deprovisioned', 90_000)
    })

    test('the provisioner’s password can be changed at the server and then here', async () => {
      const url = `/v1/provisioners/${made.body.id}`
      await server.asSuperuser(`alter role sallyport password 'another long password'`)
      const config = configOf(server, {
        resource_ids: [database],
        manages_logins: managed,
        password: 'another long password',
      })
      const changed = await owner('PATCH', url, { config })
      assert.equal(changed.status, 200, JSON.stringify(changed.body))
      const grant = await given(ada, database)
      const moved = await owner<{ code: string }>('PATCH', url, { config: { ...config, user: 'somebody' } })
      assert.deepEqual([moved.status, moved.body.code], [409, 'provisioner_in_use'])
      await revoke(grant.id)
      await grantIs(grant.id, 'revoked', 'deprovisioned')
    })
  })
}

async function makeLoginOf(server: TargetPostgres, { email }: Person, managed: boolean): Promise<void> {
  const login = pg.escapeIdentifier(email)
  const kind = managed ? 'nologin' : 'login connection limit 20'
  await server.asSuperuser(`create role ${login} ${kind} password 'her own'`)
  if (managed) await server.asSuperuser(`grant ${login} to sallyport with admin true, inherit false, set false`)
}

/** Requests access, has it approved, and waits until it is given. */
async function given(person: Person, database: string): Promise<Grant> {
  const resource = { type: 'cloud_db_instance', id: database }
  const created = await person.call<{ id: string }>('POST', '/v1/requests', {
    resource,
    action: 'read',
    reason: 'a look',
  })
  assert.equal(created.status, 201, JSON.stringify(created.body))
  const approved = await approver.call('POST', `/v1/requests/${created.body.id}/approve`, {})
  assert.equal(approved.status, 200, JSON.stringify(approved.body))
  return until('the grant is active', async () => {
    const { body } = await person.call<Page<Grant>>('GET', `/v1/grants?request_id=${created.body.id}`)
    const [grant] = body.data
    assert.notEqual(grant?.status, 'failed', grant?.last_error ?? '')
    return grant?.status === 'active' && grant
  })
}

async function findGrant(id: string): Promise<Grant | undefined> {
  const { body } = await owner<Page<Grant>>('GET', '/v1/grants')
  return body.data.find((grant) => grant.id === id)
}

function grantIs(id: string, status: string, provisioning_status: string, maxMs?: number): Promise<Grant> {
  const is = (grant: Grant | undefined) =>
    grant?.status === status && grant.provisioning_status === provisioning_status && grant
  return until(`the grant is ${status}, ${provisioning_status}`, async () => is(await findGrant(id)), maxMs)
}

async function revoke(id: string): Promise<void> {
  const revoked = await owner('POST', `/v1/grants/${id}/revoke`, {})
  assert.equal(revoked.status, 200, JSON.stringify(revoked.body))
}
