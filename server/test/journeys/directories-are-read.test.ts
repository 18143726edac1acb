import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { openAwsTarget } from '../support/aws-stage.ts'
import { openHouse, type TestTenant } from '../support/house.ts'
import { ldif, reader, skipSlapd, startLdapServer, suffix } from '../support/ldap-server.ts'
import { makeDirectory } from '../support/scim-stage.ts'
import { until } from '../support/wait.ts'

/** The directories that the service reads, each from its setup to somebody who leaves: by its own protocol, from a real server of it. */
const house = await openHouse({ EGRESS_ALLOW: '127.0.0.1' })
house.app.startWorkers()
const address = await house.app.server.listen({ host: '127.0.0.1', port: 0 })

type Run = { id: string; status: string; error: string | null; counts: Record<string, number> }

const callAs = ({ tenant_id, owner }: TestTenant) =>
  async function as(method: string, url: string, body?: unknown, expected = 200) {
    const call = { method, url, api_key: owner.api_key, tenant_id, ...(body !== undefined && { body }) }
    const reply = await house.call(call)
    assert.equal(reply.status, expected, reply.text)
    return reply.body
  }

/** A provider of a tenant whose directory is read, and what is read of it. */
async function connected(tenant: TestTenant, provider: object) {
  const as = callAs(tenant)
  const { id } = await as('POST', '/v1/identity-providers', { name: 'Directory', ...provider }, 201)
  const url = `/v1/identity-providers/${id}`
  async function sync(body: object = {}): Promise<Run> {
    const run = await as('POST', `${url}/sync`, body, 202)
    return until('the run ends', async () => {
      const now = (await as('GET', `${url}/sync-runs/${run.id}`)) as Run
      return now.status === 'synced' || now.status === 'failed' ? now : undefined
    })
  }
  const users = async () =>
    house.asSuperuser<{ email: string; active: boolean; title: string | null; department: string | null }>(
      `select u.email, u.active, u.title, u.department from directory_user d
        join tenant_user u on u.tenant_id = d.tenant_id and u.id = d.user_id
        where d.identity_provider_id = $1 order by u.email`,
      [id],
    )
  const members = async (name: string) => {
    const rows = await house.asSuperuser<{ email: string }>(
      `select u.email from tenant_group g join group_member m on m.tenant_id = g.tenant_id and m.group_id = g.id
        join tenant_user u on u.tenant_id = m.tenant_id and u.id = m.user_id
        where g.tenant_id = $1 and g.name = $2 and g.source = 'identity_provider' order by u.email`,
      [tenant.tenant_id, name],
    )
    return rows.map(({ email }) => email)
  }
  /** What a first dry run, a first run and a second one come to, of three people and one group with two of them. */
  async function begins() {
    const dry = await sync({ dry_run: true })
    assert.deepEqual([dry.status, dry.error, dry.counts.added, dry.counts.groups_added], ['synced', null, 3, 1])
    assert.deepEqual(await users(), [])
    const run = await sync()
    assert.deepEqual([run.status, run.error, run.counts.added, run.counts.groups_added], ['synced', null, 3, 1])
    const again = await sync()
    assert.deepEqual([again.counts.unchanged, again.counts.groups_changed], [3, 0])
  }
  return { as, url, sync, users, members, begins }
}

const stateOf = (rows: readonly { email: string; active: boolean }[]) =>
  rows.map(({ email, active }) => [email, active])

test('the directory of Identity Center, by the connection of a provisioner', async () => {
  const { aws, config } = await openAwsTarget()
  const tenant = await house.tenant('In AWS')
  const as = callAs(tenant)
  const role_arn = aws.addRole('an external id that nobody was shown')
  const { external_id: _, instance_arn: __, identity_store_id: ___, ...given } = config
  const provisioner = await as(
    'POST',
    '/v1/provisioners',
    { name: 'AWS', provisioner_type: 'aws-identity-center', config: { ...given, role_arn }, enabled: false },
    201,
  )
  aws.setExternalId(role_arn, String(Object(provisioner.shown_once).external_id))
  await as('POST', `/v1/provisioners/${provisioner.id}/test`, {})
  const ids = ['ada', 'bob', 'eve'].map((name) =>
    aws.addUser(name, [], {
      Emails: [{ Value: `${name}@example.com`, Type: 'work', Primary: true }],
      Title: 'Engineer',
      enterprise: { department: 'Platform' },
    }),
  )
  aws.addGroup('Engineers', ids.slice(0, 2))
  const { begins, sync, users, members } = await connected(tenant, {
    provider_type: 'cloud_identity_center',
    config: { provisioner_id: provisioner.id, identity_store_id: aws.identity_store_id },
  })
  await begins()
  assert.deepEqual(await members('Engineers'), ['ada@example.com', 'bob@example.com'])
  aws.changeUser(String(ids[0]), { UserStatus: 'DISABLED' })
  assert.equal((await sync()).counts.disabled, 1)
  assert.deepEqual(stateOf(await users()), [
    ['ada@example.com', false],
    ['bob@example.com', true],
    ['eve@example.com', true],
  ])
})

test('a directory that serves SCIM', async () => {
  const peer = await makeDirectory(house, await house.tenant('Peer'))
  const made = await Promise.all(
    ['ada', 'bob', 'eve'].map((name) =>
      peer.user({ userName: name, title: 'Engineer', emails: [{ value: `${name}@peer.example` }] }),
    ),
  )
  await peer.group(
    'Engineers',
    made.slice(0, 2).map(({ id }) => id),
  )
  const config = { protocol: 'scim', base_url: `${address}/scim/v2/${peer.id}`, token: peer.key, page_size: 2 }
  const { begins, sync, users, members, as, url } = await connected(await house.tenant('Reader'), {
    provider_type: 'directory_a',
    config,
  })
  await begins()
  assert.deepEqual(await members('Engineers'), ['ada@peer.example', 'bob@peer.example'])
  assert.deepEqual((await users())[0], { email: 'ada@peer.example', active: true, title: 'Engineer', department: null })
  await peer.call('DELETE', `/Users/${made[0]?.id}`)
  assert.equal((await sync()).counts.disabled, 1)
  assert.deepEqual(stateOf(await users())[0], ['ada@peer.example', false])
  assert.deepEqual(await members('Engineers'), ['bob@peer.example'])

  await as('PATCH', url, { config: { ...config, token: 'spscim_of-nobody' } })
  const { status, error } = await sync()
  assert.deepEqual([status, /token/.test(String(error)), String(error).includes('of-nobody')], ['failed', true, false])
})

suite('a directory that speaks LDAP', { skip: skipSlapd }, async () => {
  const people = `ou=people,${suffix}`
  const person = (uid: string) =>
    ldif(`uid=${uid},${people}`, {
      ...{ objectClass: 'inetOrgPerson', uid, cn: `${uid} Example`, sn: 'Example', mail: `${uid}@ldap.example` },
      ...{ title: 'Engineer', departmentNumber: 'Platform' },
    })
  const group = ldif(`cn=Engineers,${suffix}`, {
    ...{ objectClass: 'groupOfNames', cn: 'Engineers', member: [`uid=ada,${people}`, `uid=bob,${people}`] },
  })
  const server = skipSlapd === false && (await startLdapServer(['ada', 'bob', 'eve'].map(person).join('') + group))
  const stop = server === false ? undefined : server.stop
  after(() => stop?.())

  test('is read over TLS, and by the account that the config names alone', async () => {
    if (server === false) return
    const config = {
      ...{ protocol: 'ldap', host: server.host, port: server.tlsPort, base_dn: suffix, ...reader },
      ca_certificate: server.authority.ca,
    }
    const tenant = await house.tenant('LDAP')
    const { begins, users, members, as, url, sync } = await connected(tenant, { provider_type: 'directory_b', config })
    await begins()
    assert.deepEqual(await members('Engineers'), ['ada@ldap.example', 'bob@ldap.example'])
    const ada = { email: 'ada@ldap.example', active: true, title: 'Engineer', department: 'Platform' }
    assert.deepEqual((await users())[0], ada)
    await as('PATCH', url, { config: { ...config, user_filter: '(&(objectClass=inetOrgPerson)(!(uid=ada)))' } })
    assert.equal((await sync()).counts.disabled, 1)
    assert.deepEqual(stateOf(await users())[0], ['ada@ldap.example', false])
    await as('PATCH', url, { config: { ...config, bind_password: 'a wrong password' } })
    const { status, error } = await sync()
    assert.deepEqual([status, /password/.test(String(error))], ['failed', true])
    const { sync_status, last_synced_at } = await as('GET', url)
    assert.deepEqual([sync_status, typeof last_synced_at], ['failed', 'string'])
  })
})
