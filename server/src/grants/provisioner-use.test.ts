import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { until } from '../../test/support/wait.ts'
import { startWorkers } from '../../test/support/workers.ts'

/** Access that is given through a tenant's own provisioner, from its creation to its end. */
const house = await openHouse()
startWorkers(house)

async function stage(name: string) {
  const on = await requestStage(house, name)
  await on.rule('@approval_mode("auto") permit (principal, action, resource);')
  const setUp = (more: object) =>
    on.created(on.owner, '/v1/provisioners', { name, provisioner_type: 'sandbox', ...more })
  const change = (id: unknown, method: 'PATCH' | 'DELETE', body?: unknown) =>
    on.call(on.owner, method, `/v1/provisioners/${id}`, body)
  const retry = async (request: string) => {
    const [grant] = await on.grantsOf(request)
    assert.equal((await on.call(on.people.user, 'POST', `/v1/grants/${grant?.id}/retry`)).status, 200)
  }
  const errorOf = async (request: string) => {
    const [row] = await house.asSuperuser('select last_error from access_grant where request_id = $1', [request])
    return String(row?.last_error)
  }
  return { ...on, setUp, change, retry, errorOf }
}

const accounts = { resource_type: 'cloud_account' }

test('a provisioner can be deleted only when all access that it gave is revoked', async () => {
  const on = await stage('Deleting')
  const { id } = await on.setUp({ serves: [accounts] })
  const request = await on.ask(on.account('600000000001'))
  const [grant] = await on.grantsAre(request, 'active', 'successful')
  const [held] = await house.asSuperuser('select provisioner_id from entitlement where tenant_id = $1', [on.tenant_id])
  assert.deepEqual(held, { provisioner_id: id })
  const refused = await on.change(id, 'DELETE')
  assert.deepEqual([refused.status, refused.body.code], [409, 'provisioner_in_use'])
  assert.match(String(refused.body.message), /: 1; /)
  assert.deepEqual(refused.body.details, { entitlements: 1 })

  await on.call(on.people.user, 'POST', `/v1/grants/${grant?.id}/revoke`, {})
  await on.grantsAre(request, 'revoked', 'deprovisioned')
  await until('it can be deleted', async () => (await on.change(id, 'DELETE')).status === 204)
  assert.equal(await on.heldAt('600000000001'), 0)
  const [left] = await house.asSuperuser(
    'select provisioner_id, next_look_at, failures from entitlement where tenant_id = $1',
    [on.tenant_id],
  )
  assert.deepEqual(left, { provisioner_id: null, next_look_at: null, failures: 0 })
})

test('after a restore, a provisioner is neither deleted nor moved before a sweep has read what its target holds', async (t) => {
  const on = await stage('Restored')
  const urlOf = (name: string) => ({ config: { url: `https://${name}.example.com/access` } })
  const make = async (name: string) => (await on.setUp({ provisioner_type: 'webhook', ...urlOf(name) })).id
  const [swept, enabled, disabled] = [await make('swept'), await make('enabled'), await make('disabled')]
  await on.change(disabled, 'PATCH', { enabled: false })
  const epochIs = (when: string) =>
    house.asSuperuser(`update installation set epoch = extract(epoch from ${when})::bigint`)
  const isRefused = async (id: unknown) => {
    const moved = await on.change(id, 'PATCH', urlOf('elsewhere'))
    const deleted = await on.change(id, 'DELETE')
    assert.deepEqual([moved.status, deleted.status], [409, 409])
    assert.deepEqual([deleted.body.code, deleted.body.details], ['provisioner_in_use', { entitlements: 0 }])
    assert.match(String(deleted.body.message), /not compared .* disable the provisioner/)
  }
  await house.asSuperuser(`update provisioner set created_at = now() - interval '3 hours' where tenant_id = $1`, [
    on.tenant_id,
  ])
  t.after(() => house.asSuperuser('update installation set epoch = 0'))
  await epochIs('now()')
  for (const id of [swept, enabled, disabled]) await isRefused(id)
  await epochIs(`now() - interval '2 hours'`)
  await isRefused(enabled)
  assert.equal((await on.change(disabled, 'PATCH', urlOf('elsewhere'))).status, 200)
  assert.equal((await on.change(disabled, 'DELETE')).status, 204)
  await isRefused(swept)
  await house.asSuperuser(
    `insert into sweep (tenant_id, id, provisioner, provisioner_id, listed_epoch)
      select $1, gen_random_uuid(), 'webhook', $2, epoch from installation`,
    [on.tenant_id, swept],
  )
  assert.equal((await on.change(swept, 'DELETE')).status, 204)
})

test('in rehearsal, what no provisioner serves is given in the sandbox, also beside a provisioner that serves nothing', async () => {
  const on = await stage('Not served')
  const { id } = await on.setUp({})
  const first = await on.ask(on.account('600000000002'))
  await on.grantsAre(first, 'active', 'successful')
  await on.change(id, 'PATCH', { serves: [{ ...accounts, account_ids: ['600000000002'] }] })
  const second = await on.ask(on.account('600000000003'))
  await on.grantsAre(second, 'active', 'successful')
  const rows = await house.asSuperuser('select provisioner, provisioner_id from entitlement where tenant_id = $1', [
    on.tenant_id,
  ])
  const bySandbox = { provisioner: 'sandbox', provisioner_id: null }
  assert.deepEqual(rows, [bySandbox, bySandbox])
})

test('a grant of a live tenant that no provisioner serves any more fails with a reason, and can be retried', async () => {
  const on = await stage('No longer served')
  const webhook = { provisioner_type: 'webhook', config: { url: 'https://doors.example.com/access' } }
  const { id } = await on.setUp({ ...webhook, serves: [accounts] })
  // Asked for while it is served, and given once it is not.
  await on.change(id, 'PATCH', { enabled: false })
  const request = await on.ask(on.account('600000000003'))
  await on.change(id, 'PATCH', { serves: [{ ...accounts, account_ids: ['600000000002'] }], enabled: true })
  await on.grantsAre(request, 'failed', 'failed')
  assert.match(await on.errorOf(request), /no provisioner serves `cloud_account` in the account 600000000003/)
  // Disabled, so that nothing is sent there: the grant waits for it.
  await on.change(id, 'PATCH', { serves: [accounts], enabled: false })
  await on.retry(request)
  await until('it is planned for the provisioner', async () => (await on.errorOf(request)).includes('is disabled'))
})

test('a provisioner for one account takes precedence over one for all accounts', async () => {
  const on = await stage('Lines')
  const general = await on.setUp({ serves: [accounts] })
  const special = await on.setUp({ serves: [{ ...accounts, account_ids: ['600000000004'] }] })
  for (const account of ['600000000004', '600000000005']) {
    await on.grantsAre(await on.ask(on.account(account)), 'active', 'successful')
  }
  const rows = await house.asSuperuser(
    'select provisioner_id from entitlement where tenant_id = $1 order by target_key',
    [on.tenant_id],
  )
  assert.deepEqual(
    rows.map((row) => row.provisioner_id),
    [special.id, general.id],
  )
})

test('a disabled provisioner gives nothing new, revokes what it gave, and gives again when it is enabled', async () => {
  const on = await stage('Disabled')
  const { id } = await on.setUp({ serves: [accounts] })
  const before = await on.ask(on.account('600000000006'))
  const [grant] = await on.grantsAre(before, 'active', 'successful')
  await on.change(id, 'PATCH', { enabled: false })
  const after = await on.ask(on.account('600000000007'))
  await until('the grant waits and says why', async () => (await on.errorOf(after)).includes('is disabled'))
  await on.call(on.people.user, 'POST', `/v1/grants/${grant?.id}/revoke`, {})
  await on.grantsAre(before, 'revoked', 'deprovisioned')
  await on.change(id, 'PATCH', { enabled: true })
  await on.grantsAre(after, 'active', 'successful')
})

test('while a provisioner is disabled nothing is begun there, so no late effect is expected', async () => {
  const on = await stage('Nothing begun')
  const { id } = await on.setUp({ serves: [accounts] })
  await on.grantsAre(await on.ask(on.account('600000000008')), 'active', 'successful')
  await on.change(id, 'PATCH', { enabled: false })
  // As if it had been removed, and was to be given again.
  await house.asSuperuser(
    `update entitlement set observed = 'absent', next_look_at = clock_timestamp() where tenant_id = $1`,
    [on.tenant_id],
  )
  const kept = await until('it waits for the provisioner', async () => {
    const [row] = await house.asSuperuser<{ last_error: string | null; may_land_until: string | null }>(
      'select last_error, may_land_until from entitlement where tenant_id = $1',
      [on.tenant_id],
    )
    return row?.last_error != null && row
  })
  assert.deepEqual(kept, { last_error: 'the provisioner that serves it is disabled', may_land_until: null })
})
