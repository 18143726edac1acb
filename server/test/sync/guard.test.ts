import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { openHouse, type TestTenant } from '../support/house.ts'
import { member, syncStage } from '../support/sync-stage.ts'

/** A run that would remove many stops, until a person confirms it. */
const house = await openHouse()

const crowd = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => member(`p${String(from + index).padStart(2, '0')}`))

async function crowded(tenant?: TestTenant, config = {}) {
  const stage = await syncStage(house, tenant ?? (await house.tenant('Acme')), { config })
  stage.said.pages = [{ people: crowd(0, 20) }]
  await stage.sync()
  const active = async () => (await stage.users()).filter((user) => user.active).length
  const events = () =>
    house.asSuperuser<{ data: Record<string, unknown> }>(
      "select data from event where type = 'identity_provider.mass_removal' and subject_id = $1 order by seq",
      [stage.id],
    )
  return { ...stage, active, events }
}

suite('a run that would remove many users', async () => {
  const stage = await crowded(undefined, { mass_removals: 'refuse' })
  const { said, sync, active, changes, events, provider, url, call } = stage
  let stopped = ''

  test('stops before it changes anything, also what came in the same reading', async () => {
    said.pages = [{ people: [...crowd(5, 20), member('new')] }]
    const run = await sync()
    assert.deepEqual([run.status, run.needs_confirmation, run.counts.disabled], ['failed', true, 5])
    assert.match(String(run.error), /^5 of 20 users would be deactivated: .*confirm its removals/)
    assert.equal(await active(), 20)
    assert.deepEqual(
      (await changes(run.id)).filter(([, , outcome]) => outcome === 'done'),
      [],
    )
    const { sync_status, sync_error } = await provider()
    assert.deepEqual([sync_status, sync_error], ['failed', run.error])
    stopped = run.id
  })

  test('is announced to the owners, once for the same removals', async () => {
    await sync()
    const [event, ...others] = await events()
    const { removed, size, refused, run_id } = event?.data ?? {}
    assert.deepEqual({ removed, size, refused, run_id }, { removed: 5, size: 20, refused: true, run_id: stopped })
    assert.deepEqual(others, [])
  })

  test('goes on once a person confirms it, for those alone whom that run named', async () => {
    said.pages = [{ people: [...crowd(6, 20), member('new')] }]
    const run = await sync({ confirm_removals_of: stopped })
    assert.deepEqual([run.status, run.confirms, run.counts.disabled, run.counts.added], ['synced', stopped, 5, 1])
    const { data } = (await call('GET', `${url}/sync-runs/${run.id}/changes?outcome=refused`)).body
    const [left, ...others] = data as { source_id: string; message: string }[]
    assert.deepEqual([left?.source_id, others], ['p05', []], 'nobody had seen that one')
    assert.match(String(left?.message), /the next run decides/)
    const again = await call('POST', `${url}/sync`, { confirm_removals_of: stopped })
    assert.equal(again.status, 422, 'it was confirmed')
    said.pages = [{ people: crowd(11, 20) }]
    const next = await sync()
    assert.deepEqual([next.status, next.needs_confirmation], ['failed', true], 'others would go')
    said.pages = [{ people: [] }]
    const emptied = await sync()
    assert.match(String(emptied.error), /^the directory is empty, and 16 users would be deactivated/)
    const confirmed = await sync({ confirm_removals_of: next.id })
    assert.deepEqual([confirmed.status, confirmed.counts.disabled, await active()], ['synced', 7, 9])
  })

  test('is confirmed by its id alone, of the same directory, with the right to deactivate users', async () => {
    const { said, sync, changes, url, call, people, tenant_id } = await crowded()
    const other = await crowded()
    other.said.pages = [{ people: crowd(0, 5) }]
    said.pages = [{ people: [...crowd(1, 20), member('newer')] }]
    const sound = await sync()
    assert.deepEqual([sound.status, (await changes(sound.id)).length], ['synced', 2])
    for (const id of [newId(), (await other.sync()).id, sound.id]) {
      const reply = await call('POST', `${url}/sync`, { confirm_removals_of: id })
      assert.deepEqual([reply.status, reply.body.code], [422, 'unprocessable'], reply.text)
    }
    said.pages = [{ people: crowd(19, 20) }]
    const { id } = await sync()
    const both = await call('POST', `${url}/sync`, { confirm_removals_of: id, dry_run: true })
    assert.deepEqual([both.status, both.body.code], [400, 'invalid_input'])
    const role = await call('POST', '/v1/roles', { name: 'sync', scopes: ['identity_providers:sync'] })
    await call('PUT', `/v1/users/${people.user.user_id}/roles`, { roles: [role.body.id] })
    const by = { method: 'POST', url: `${url}/sync`, tenant_id, token: people.user.token }
    const refused = await house.call({ ...by, body: { confirm_removals_of: id } })
    assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'], refused.text)
    assert.match(String(refused.body.message), /users:write/)
    assert.equal((await house.call({ ...by, body: { dry_run: true } })).status, 202)
  })
})

test('a few of a small directory are not many, unless they are all', async () => {
  const { said, sync, active } = await syncStage(house, await house.tenant('Small')).then((stage) => ({
    ...stage,
    active: async () => (await stage.users()).filter((user) => user.active).length,
  }))
  said.pages = [{ people: crowd(0, 6) }]
  await sync()
  said.pages = [{ people: crowd(4, 6) }]
  assert.deepEqual([(await sync()).status, await active()], ['synced', 2])
  said.pages = [{ people: crowd(2, 6) }]
  await sync()
  await house.asSuperuser('delete from directory_removal')
  said.pages = [{ people: [member('stranger')] }]
  const run = await sync()
  assert.deepEqual([run.status, await active()], ['failed', 4], 'the list of another directory')
})

test('those who went within an hour count', async () => {
  const { said, sync, active } = await crowded()
  said.pages = [{ people: crowd(4, 20) }]
  assert.equal((await sync()).status, 'synced')
  said.pages = [{ people: crowd(5, 20) }]
  const run = await sync()
  assert.deepEqual([run.status, run.needs_confirmation, await active()], ['failed', true, 16])
  assert.match(String(run.error), /^1 of 20 users would be deactivated, after 4 within the last hour/)
  await house.asSuperuser("update directory_removal set at = at - interval '1 hour'")
  assert.equal((await sync()).status, 'synced')
})

test('those who come back under another id are named as that', async () => {
  const { said, sync } = await crowded()
  said.pages = [{ people: crowd(0, 20).map((one) => ({ ...one, id: `new-${one.id}` })) }]
  const run = await sync()
  assert.deepEqual([run.status, run.needs_confirmation], ['failed', true])
  assert.match(String(run.error), /20 of 20 users .*; 20 of them are in the directory under another id: check which/)
})

test('the last owner stays, and the others go', async () => {
  const tenant = await house.tenant('Acme')
  const stage = await crowded(tenant)
  const [first] = await stage.users()
  await house.asSuperuser('update tenant_user set is_owner = (id = $2) where tenant_id = $1', [
    tenant.tenant_id,
    first?.id,
  ])
  stage.said.pages = [{ people: crowd(2, 20) }]
  const run = await stage.sync()
  assert.deepEqual([run.status, run.counts.disabled, run.counts.failed], ['synced', 1, 1])
  assert.deepEqual(
    (await stage.users()).slice(0, 3).map(({ active }) => active),
    [true, false, true],
  )
})

test('a dry run changes nothing, and says what would be done', async () => {
  const { said, sync, active, users, changes, provider, url, call } = await crowded()
  const before = [await users(), await provider()]
  said.pages = [{ people: [...crowd(0, 10), member('new'), member('p00', { displayName: 'twice' })] }]
  const run = await sync({ dry_run: true })
  assert.deepEqual([run.status, run.dry_run, run.needs_confirmation], ['synced', true, true])
  const { people, unchanged, added, disabled } = run.counts
  assert.deepEqual({ people, unchanged, added, disabled }, { people: 11, unchanged: 10, added: 1, disabled: 10 })
  assert.equal((await changes(run.id)).length, 11)
  const absent = await call('GET', `${url}/sync-runs/${run.id}/changes?change=absent&limit=3`)
  assert.deepEqual([(absent.body.data as unknown[]).length, absent.body.has_more], [3, true])
  assert.deepEqual([await users(), await provider()], before)
  const confirmed = await sync({ confirm_removals_of: run.id })
  assert.deepEqual([confirmed.status, await active()], ['synced', 11], 'what a dry run showed can be confirmed')
})
