import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAwsTarget } from '../support/aws-stage.ts'
import { openHouse } from '../support/house.ts'
import { until } from '../support/wait.ts'

/** From nothing to the first grant in AWS: a region, an account, one snippet, a test. */
const { aws, config, accounts } = await openAwsTarget()
const house = await openHouse({ EGRESS_ALLOW: '127.0.0.1' })
const { owner, people, tenant_id } = await house.tenant('New in AWS')
house.app.startWorkers()

const as = async (api_key: string, method: string, url: string, body?: unknown, expected = 201) => {
  const reply = await house.call({ method, url, api_key, tenant_id, ...(body !== undefined && { body }) })
  assert.equal(reply.status, expected, reply.text)
  return reply.body
}
const asOwner = (method: string, url: string, body?: unknown, expected?: number) =>
  as(owner.api_key, method, url, body, expected)

type SetUp = { identity: string; note: string | null; snippets: { kind: string; text: string }[] }
type Made = {
  id: string
  enabled: boolean
  config: object
  version: number
  shown_once: { external_id: string }
  set_up: SetUp
}
const snippetOf = ({ set_up }: Made) => set_up.snippets.find(({ kind }) => kind === 'cloudformation')?.text ?? ''

const answers = { region: aws.region, account_id: aws.management_account, endpoint: config.endpoint }
const made = (await asOwner('POST', '/v1/provisioners', {
  name: 'AWS',
  provisioner_type: 'aws-identity-center',
  config: answers,
  serves: [{ resource_type: 'cloud_account' }],
})) as unknown as Made
const url = `/v1/provisioners/${made.id}`

type Tested = { ok: boolean; checks: { what: string; ok: boolean; message: string | null }[] }
const tested = async () => (await asOwner('POST', `${url}/test`, {}, 200)) as unknown as Tested

test('a provisioner that lacks its instance is disabled, and cannot be enabled before its test found it', async () => {
  assert.equal(made.enabled, false)
  assert.ok(snippetOf(made).includes(made.shown_once.external_id))
  assert.equal(made.set_up.identity, 'arn:aws:iam::111111111111:user/sallyport')
  const refused = await asOwner('PATCH', url, { enabled: true }, 422)
  assert.match(
    JSON.stringify(refused),
    /cannot be enabled without `instance_arn` and `identity_store_id`: test it first/,
  )
  const whole = { name: 'AWS 2', provisioner_type: 'aws-identity-center', config: answers, enabled: true }
  await asOwner('POST', '/v1/provisioners', whole, 422)
  const shown = JSON.stringify(await asOwner('GET', url, undefined, 200))
  assert.ok(!shown.includes(made.shown_once.external_id) && !shown.includes('cloudformation'))
})

test('a lost snippet is made again, with a new external id', async () => {
  const again = (await asOwner('POST', `${url}/rotate-secret`, {}, 200)) as unknown as Made
  assert.notEqual(again.shown_once.external_id, made.shown_once.external_id)
  assert.ok(snippetOf(again).includes(again.shown_once.external_id))
  assert.ok(!snippetOf(again).includes(made.shown_once.external_id))
  assert.equal((await tested()).ok, false)
  aws.applyTemplate(snippetOf(again))
})

test('the test finds the instance and keeps it; then access is given', async () => {
  const health = await tested()
  assert.deepEqual(
    health.checks.filter(({ ok }) => !ok),
    [],
  )
  assert.equal(health.checks.length, 7)
  const { instance_arn, identity_store_id } = aws
  const found = (await asOwner('GET', url, undefined, 200)) as unknown as Made & { health: Tested | null }
  assert.deepEqual(found.config, { ...answers, instance_arn, identity_store_id, external_id: '[redacted]' })
  assert.equal(found.health?.ok, true)
  const { version } = found
  await tested()
  assert.equal((await asOwner('GET', url, undefined, 200)).version, version, 'a second test finds nothing new')
  const events = (await asOwner('GET', `/v1/audit-events?type=provisioner.tested`, undefined, 200)).data as {
    data: { fields?: string[] }
  }[]
  const facts = events.map(({ data }) => data.fields)
  assert.deepEqual(facts.filter(Boolean), [['instance_arn', 'identity_store_id']])

  assert.equal((await asOwner('PATCH', url, { enabled: true }, 200)).mode, 'live')
  aws.addUser('user@example.com')
  const policy = await asOwner('POST', '/v1/policies', { name: 'all' })
  await asOwner('POST', `/v1/policies/${policy.id}/rules`, { effect: 'permit' })
  const resource = { type: 'cloud_account', id: accounts[0] }
  const request = { resource, action: 'ReadOnly', duration_seconds: 3_600 }
  const { id } = await as(people.user.api_key, 'POST', '/v1/requests', request)
  await as(people.approver.api_key, 'POST', `/v1/requests/${id}/approve`, {}, 200)
  await until('the access is there', async () => aws.assignments().length === 1)
})
