import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, operations, type TestTenant } from '../support/house.ts'

/** A tenant goes live once: with the first enabled provisioner that gives real access. */
const house = await openHouse({ EGRESS_ALLOW: '127.0.0.1' })
const url = '/v1/provisioners'
const accounts = [{ resource_type: 'cloud_account' }]
const buckets = [{ resource_type: 'cloud_storage_bucket' }]

const send = (of: TestTenant, method: string, to: string, body?: unknown) =>
  house.call({
    method,
    url: to,
    api_key: of.owner.api_key,
    tenant_id: of.tenant_id,
    ...(body !== undefined && { body }),
  })
const create = async (of: TestTenant, more: object) => {
  const webhook = { name: 'Door system', provisioner_type: 'webhook', config: { url: 'http://127.0.0.1:9/' } }
  const reply = await send(of, 'POST', url, { ...webhook, ...more })
  assert.equal(reply.status, 201, reply.text)
  return `${url}/${reply.body.id}`
}
const change = async (of: TestTenant, to: string, body: object) => {
  const reply = await send(of, 'PATCH', to, body)
  assert.equal(reply.status, 200, reply.text)
}
const modeOf = async ({ tenant_id }: TestTenant) => {
  const [row] = await house.asSuperuser<{ mode: string; since: string | null }>(
    'select mode, live_since as since from tenant where id = $1',
    [tenant_id],
  )
  assert.equal(row?.since !== null, row?.mode === 'live')
  return row?.mode
}
const eventsOf = ({ tenant_id }: TestTenant) =>
  house.asSuperuser<{ subject_id: string; actor_id: string; data: object }>(
    `select subject_id, actor_id, data from event where tenant_id = $1 and type = 'tenant.went_live'`,
    [tenant_id],
  )
const sandbox = { name: 'Rehearsal', provisioner_type: 'sandbox', config: {} }

suite('a tenant goes live', () => {
  test('with a provisioner that is enabled and serves something from the start', async () => {
    const of = await house.tenant('at once')
    assert.equal(await modeOf(of), 'rehearsal')
    await create(of, { serves: accounts })
    assert.equal(await modeOf(of), 'live')
    assert.deepEqual(await eventsOf(of), [
      { subject_id: of.tenant_id, actor_id: of.owner.user_id, data: { cause: 'provisioner' } },
    ])
  })

  test('when a provisioner that serves something is enabled', async () => {
    const of = await house.tenant('enabled later')
    const made = await create(of, { serves: accounts, enabled: false })
    assert.equal(await modeOf(of), 'rehearsal')
    await change(of, made, { name: 'Another name' })
    assert.equal(await modeOf(of), 'rehearsal')
    await change(of, made, { enabled: true })
    assert.equal(await modeOf(of), 'live')
  })

  test('when an enabled provisioner is given something to serve', async () => {
    const of = await house.tenant('serving later')
    const made = await create(of, {})
    assert.equal(await modeOf(of), 'rehearsal')
    await change(of, made, { serves: accounts })
    assert.equal(await modeOf(of), 'live')
  })

  test('once, and stays live without the provisioner', async () => {
    const of = await house.tenant('once')
    const made = await create(of, { serves: accounts })
    await create(of, { serves: buckets })
    await change(of, made, { serves: [] })
    await change(of, made, { enabled: false })
    await change(of, made, { enabled: true, serves: accounts })
    assert.equal((await send(of, 'DELETE', made)).status, 204)
    assert.equal(await modeOf(of), 'live')
    assert.equal((await eventsOf(of)).length, 1)
  })

  test('once, when two calls make it so at the same moment', async () => {
    const of = await house.tenant('twice')
    const [disabled, enabled] = [await create(of, { serves: accounts, enabled: false }), await create(of, {})]
    await Promise.all([change(of, disabled, { enabled: true }), change(of, enabled, { serves: buckets })])
    assert.equal(await modeOf(of), 'live')
    assert.equal((await eventsOf(of)).length, 1)
  })
})

test('a process that has a tenant go live forgets at once what callers of it could do', () => {
  // Its own notice of the change comes a moment later, so that no call shows this reliably.
  for (const name of ['createProvisioner', 'updateProvisioner']) assert.equal(operations[name]?.changes, 'authority')
})

suite('a tenant stays in rehearsal', () => {
  test('with sandboxes, whatever they serve', async () => {
    const of = await house.tenant('sandboxes')
    await create(of, { ...sandbox, serves: accounts })
    const made = await create(of, { ...sandbox, enabled: false })
    await change(of, made, { enabled: true, serves: buckets })
    assert.equal(await modeOf(of), 'rehearsal')
    assert.deepEqual(await eventsOf(of), [])
  })

  test('with provisioners that serve nothing, or are not enabled', async () => {
    const of = await house.tenant('preparing')
    await create(of, {})
    const made = await create(of, { serves: accounts, enabled: false })
    await change(of, made, { serves: buckets })
    assert.equal(await modeOf(of), 'rehearsal')
  })

  test('with a change that is refused', async () => {
    const of = await house.tenant('refused')
    await create(of, { ...sandbox, serves: accounts })
    const taken = await send(of, 'POST', url, {
      name: 'A',
      provisioner_type: 'webhook',
      config: { url: 'http://127.0.0.1:9/' },
      serves: accounts,
    })
    assert.equal(taken.status, 409)
    assert.equal(await modeOf(of), 'rehearsal')
  })

  test('when another tenant goes live', async () => {
    const [of, other] = [await house.tenant('one'), await house.tenant('other')]
    await create(other, { serves: accounts })
    await create(of, {})
    assert.deepEqual([await modeOf(of), await modeOf(other)], ['rehearsal', 'live'])
  })
})

test('the database keeps a live tenant live, since one moment', async () => {
  const of = await house.tenant('fixed')
  await create(of, { serves: accounts })
  const set = (what: string) => house.asSuperuser(`update tenant set ${what} where id = $1`, [of.tenant_id])
  await assert.rejects(set(`mode = 'rehearsal', live_since = null`), /does not go back/)
  await assert.rejects(set(`live_since = null`), /tenant_live_since_ck/)
  await assert.rejects(set(`mode = 'half'`), /tenant_mode_ck|does not go back/)
  await set(`name = 'another'`)
  assert.equal(await modeOf(of), 'live')
})
