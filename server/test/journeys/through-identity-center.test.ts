import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAwsTarget } from '../support/aws-stage.ts'
import { openHouse, type Person } from '../support/house.ts'
import { until } from '../support/wait.ts'

/**
 * Access in AWS, from the first setup to the last end: every type of resource, on a simulated AWS that is as strict as the
 * real one.
 */
const { aws, config, accounts, sets } = await openAwsTarget({ rate: 20, outstanding: 10, acts: { ms: 100, checks: 1 } })
const [account, another] = accounts
const house = await openHouse({ EGRESS_ALLOW: '127.0.0.1' })
const tenant = await house.tenant('In AWS')
const { owner, people } = tenant
house.app.startWorkers()
const ada = aws.addUser('user@example.com')

const as = async (person: Person, method: string, url: string, body?: unknown, expected = 201) => {
  const { tenant_id } = tenant
  const call = { method, url, api_key: person.api_key, tenant_id, ...(body !== undefined && { body }) }
  const reply = await house.call(call)
  assert.equal(reply.status, expected, reply.text)
  return reply.body
}
const policy = await as(owner, 'POST', '/v1/policies', { name: 'all' })
await as(owner, 'POST', `/v1/policies/${policy.id}/rules`, { effect: 'permit' })

const database = `arn:aws:rds:${aws.region}:${account}:db:orders`
const role_arn = aws.addRole('an external id that nobody was shown')
const { external_id: _, ...given } = config
const types = ['cloud_account', 'cloud_storage_bucket', 'cloud_db_instance', 'cloud_compute_instance']
const provisioner = await as(owner, 'POST', '/v1/provisioners', {
  name: 'our AWS organization',
  provisioner_type: 'aws-identity-center',
  config: { ...given, role_arn, databases: { [database]: { resource_id: 'db-ABC', users: { connect: 'reader' } } } },
  serves: types.map((resource_type) => ({ resource_type })),
})
const external_id = (provisioner.shown_once as { external_id: string }).external_id

type Health = { ok: boolean; checks: { what: string; ok: boolean; message: string | null }[] }
const tested = async () =>
  (await as(owner, 'POST', `/v1/provisioners/${provisioner.id}/test`, {}, 200)) as unknown as Health

async function approved(type: string, id: string, action: string, metadata = {}): Promise<string> {
  const body = { resource: { type, id }, action, metadata, duration_seconds: 3_600 }
  const created = await as(people.user, 'POST', '/v1/requests', body)
  await as(people.approver, 'POST', `/v1/requests/${created.id}/approve`, {}, 200)
  return String(created.id)
}

type Grant = {
  id: string
  status: string
  provisioning_status: string
  last_error: string | null
  provisioning: { step: string }
}
const grantsOf = async (request_id: string) =>
  (await as(owner, 'GET', `/v1/grants?request_id=${request_id}`, undefined, 200)).data as Grant[]
const allAre = (request_id: string, test: (grant: Grant) => boolean) =>
  until('all grants of the request match', async () => {
    const grants = await grantsOf(request_id)
    return grants.length > 0 && grants.every(test) && grants
  })
const seats = () => aws.assignments().map((one) => `${one.account} ${nameOf(one.set)} ${one.principal}`)
const nameOf = (arn: string) => {
  const name = aws.permissionSets().find((set) => set.arn === arn)?.name ?? ''
  return name.startsWith('sallyport-') ? 'its own' : name
}

test('the external id is generated and shown once, and the health check fails until the role requires it', async () => {
  const before = await tested()
  assert.equal(before.ok, false)
  assert.match(before.checks.find(({ ok }) => !ok)?.message ?? '', /external id/)
  assert.ok(!JSON.stringify(before).includes(external_id))
  aws.setExternalId(role_arn, external_id)
  assert.deepEqual(
    (await tested()).checks.filter(({ ok }) => !ok),
    [],
  )
  assert.ok(
    !JSON.stringify(await as(owner, 'GET', `/v1/provisioners/${provisioner.id}`, undefined, 200)).includes(external_id),
  )
})

test('access to each type of resource is given in AWS’s form, and nothing is left at the end', async () => {
  const unit = 'ou-abcd-12345678'
  const closed = aws.addAccount('SUSPENDED')
  const metadata = { organizational_unit_ids: [unit] }
  const resources = [account, another, closed].map((id) => ({ id, name: id, account_id: id, metadata }))
  await as(owner, 'PUT', '/v1/cloud/accounts', { resources }, 200)
  const whole = await Promise.all([
    approved('cloud_account', account, 'ReadOnly'),
    approved('cloud_permission_set', sets.Administrator, 'ask', { account_ids: [account, another] }),
    approved('cloud_storage_bucket', 'play-logs', 'read', { account_id: account }),
    approved('cloud_db_instance', database, 'connect'),
    approved('cloud_compute_instance', 'i-0123456789', 'connect', { account_id: another }),
  ])
  const underUnit = await approved('cloud_organizational_unit', unit, 'ReadOnly')
  for (const id of whole) await allAre(id, ({ status }) => status === 'active')
  const [refused, ...others] = (await allAre(underUnit, ({ status }) => status !== 'pending')).sort((one) =>
    one.status === 'failed' ? -1 : 1,
  )
  assert.match(`${refused?.last_error}`, /is SUSPENDED/)
  assert.deepEqual(
    others.map(({ status }) => status),
    ['active', 'active'],
  )
  const expected = [
    `${account} ReadOnly ${ada}`,
    `${another} ReadOnly ${ada}`,
    `${account} Administrator ${ada}`,
    `${another} Administrator ${ada}`,
    `${account} its own ${ada}`,
    `${account} its own ${ada}`,
    `${another} its own ${ada}`,
  ]
  assert.deepEqual(seats().sort(), expected.sort())

  for (const id of [...whole, underUnit]) {
    for (const grant of await grantsOf(id)) {
      if (grant.status === 'active') await as(owner, 'POST', `/v1/grants/${grant.id}/revoke`, {}, 200)
    }
  }
  for (const id of [...whole, underUnit]) {
    await allAre(id, (one) => one.provisioning_status === 'deprovisioned' || one.status === 'failed')
  }
  assert.deepEqual(seats(), [])
  assert.deepEqual(
    aws
      .permissionSets()
      .map(({ name }) => name)
      .sort(),
    ['Administrator', 'ReadOnly'],
  )
  assert.equal(aws.needlessGrants(), 0, 'nothing was granted twice')
})

test('an assignment that the customer made stays, even if a user is granted the same (F8)', async () => {
  aws.assignByHand(account, sets.Administrator, ada)
  const id = await approved('cloud_account', account, 'Admin')
  const [grant] = await allAre(id, ({ status }) => status === 'active')
  await as(owner, 'POST', `/v1/grants/${grant?.id}/revoke`, {}, 200)
  await allAre(id, ({ provisioning }) => provisioning.step === 'left')
  assert.deepEqual(seats(), [`${account} Administrator ${ada}`])
  aws.unassignByHand(account, sets.Administrator, ada)
})
