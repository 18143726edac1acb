import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Inventory } from '../../src/inventory/inventory.ts'
import type { StandingAccess } from '../../src/inventory/standing-access.ts'
import { openAwsTarget } from '../support/aws-stage.ts'
import { readCsv } from '../support/described.ts'
import { openHouse, type Person } from '../support/house.ts'
import { until } from '../support/wait.ts'

/** What Sallyport sees of a simulated AWS organization, from the first test of the provisioner on. */
const { aws, config, accounts, sets } = await openAwsTarget({ rate: 20, outstanding: 10 })
const [account] = accounts
const house = await openHouse({ EGRESS_ALLOW: '127.0.0.1' })
const tenant = await house.tenant('In AWS')
const { owner, people } = tenant
const { tenant_id } = tenant
house.app.startWorkers()

const as = async (person: Person, method: string, url: string, body?: unknown, expected = 200) => {
  const call = { method, url, api_key: person.api_key, tenant_id, ...(body !== undefined && { body }) }
  const reply = await house.call(call)
  assert.equal(reply.status, expected, reply.text)
  return reply.body
}

const workloads = aws.addUnit(aws.root_id, 'Workloads')
const production = aws.addAccount('ACTIVE', workloads, { env: 'prod' })
const root = aws.addPermissionSet('Root', {}, { managed: ['arn:aws:iam::aws:policy/AdministratorAccess'] })
const [user, ben] = [aws.addUser('user@example.com'), aws.addUser('ben@elsewhere.example')]
const admins = aws.addGroup('Admins', [ben])
aws.assignByHand(account, root, admins)
aws.assignByHand(production, sets.ReadOnly, user)

const role_arn = aws.addRole('an external id that nobody was shown')
const { external_id: _, ...given } = config
const provisioner = await as(
  owner,
  'POST',
  '/v1/provisioners',
  {
    ...{ name: 'our AWS organization', provisioner_type: 'aws-identity-center' },
    ...{ config: { ...given, role_arn }, serves: [{ resource_type: 'cloud_account' }] },
  },
  201,
)
aws.setExternalId(role_arn, String((provisioner.shown_once as { external_id: string }).external_id))
const url = `/v1/provisioners/${provisioner.id}`
const inventory = async () => (await as(owner, 'GET', `${url}/inventory`)) as unknown as Inventory
/** The inventory, once every part was read after the moment. */
const readAfter = (moment: number) =>
  until('every part was read', async () => {
    const now = await inventory()
    const isRead = (at: string | null) => at !== null && Date.parse(at) > moment
    return now.parts.length === 5 && now.parts.every(({ finished_at }) => isRead(finished_at)) && now
  })
const standing = async (query = '') =>
  (await as(owner, 'GET', `${url}/standing-access?${query}`)).data as StandingAccess[]
const line = ({ holder, permission_set, account: { id }, via_group }: StandingAccess) =>
  `${holder.login} ${permission_set.name} ${id} ${via_group?.name ?? 'directly'}`

test('a passed test of the provisioner has everything read', async () => {
  assert.deepEqual((await inventory()).parts, [])
  assert.equal((await as(owner, 'POST', `${url}/test`, {})).ok, true)
  const { counts, parts, unmatched_users } = await readAfter(0)
  assert.deepEqual(
    parts.filter(({ error }) => error !== null),
    [],
  )
  assert.deepEqual(counts, {
    ...{ accounts: 4, organizational_units: 1, permission_sets: 3, databases: 0, people: 2, groups: 1 },
    ...{ assignments: 2, administrators: 1 },
  })
  const unmatched = (await as(owner, 'GET', `${url}/unmatched-users`)).data as { email: string }[]
  assert.equal(unmatched.length, unmatched_users)
  assert.ok(unmatched.some(({ email }) => email === 'approver@example.com'))
  assert.ok(!unmatched.some(({ email }) => email === 'user@example.com'))
})

test('its accounts are in the account cache, with their tags and units', async () => {
  const { data } = await as(owner, 'GET', '/v1/cloud/accounts')
  const found = (data as { id: string; metadata: object }[]).find(({ id }) => id === production)
  assert.deepEqual(found?.metadata, { env: 'prod', organizational_unit_ids: [workloads] })
})

test('standing access is shown, and what a grant gives is the grant’s', async () => {
  assert.deepEqual(
    (await standing()).map(line).sort(),
    [`ben@elsewhere.example Root ${account} Admins`, `user@example.com ReadOnly ${production} directly`].sort(),
  )
  assert.deepEqual((await standing('administrators=true')).map(line), [`ben@elsewhere.example Root ${account} Admins`])
  const policy = await as(owner, 'POST', '/v1/policies', { name: 'all' }, 201)
  await as(owner, 'POST', `/v1/policies/${policy.id}/rules`, { effect: 'permit' }, 201)
  const body = { resource: { type: 'cloud_account', id: account }, action: 'ReadOnly', duration_seconds: 3_600 }
  const request = await as(people.user, 'POST', '/v1/requests', body, 201)
  await as(people.approver, 'POST', `/v1/requests/${request.id}/approve`, {})
  const grant = await until('the grant is active', async () => {
    const { data } = await as(owner, 'GET', `/v1/grants?request_id=${request.id}&status=active`)
    return (data as { id: string }[])[0]
  })
  const before = Date.now()
  await as(owner, 'POST', `${url}/inventory/refresh`, undefined, 202)
  await readAfter(before)
  const held = await standing(`person_id=${user}`)
  assert.deepEqual(
    held.map((row) => [row.account.id, row.user_id, row.grant_id]).sort(),
    [
      [account, people.user.user_id, grant.id],
      [production, people.user.user_id, null],
    ].sort(),
  )
  const reply = await house.call({
    method: 'GET',
    url: `${url}/standing-access/export`,
    api_key: owner.api_key,
    tenant_id,
  })
  assert.equal(reply.headers['content-type'], 'text/csv')
  assert.equal(reply.headers['content-disposition'], 'attachment; filename="standing-access.csv"')
  assert.equal(readCsv(reply.text).length, 3)
})

test('a right that the role lacks is named, and what was read before stays', async () => {
  const end = aws.always('ListRoots', { error: 'AccessDeniedException' })
  await as(owner, 'POST', `${url}/inventory/refresh`, undefined, 202)
  const part = await until('the accounts cannot be read', async () =>
    (await inventory()).parts.find((one) => one.part === 'accounts' && one.error !== null),
  )
  end()
  assert.match(`${part.error}`, /organizations:ListRoots/)
  assert.equal((await inventory()).counts.accounts, 4)
})
