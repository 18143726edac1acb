import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { openDatabase } from '../../src/db/transaction.ts'
import { systemActor } from '../../src/kernel/context.ts'
import { newId } from '../../src/kernel/id.ts'
import { areMany } from '../../src/scim/users/removal.ts'
import { countRemovals } from '../../src/scim/users/removal-store.ts'
import { aLockIsWaitedFor } from '../support/lock.ts'
import { type Directory, openScimStage, type ScimReply } from '../support/scim-stage.ts'

/** A directory that removes users: the last owner stays, and many at once are reported. */
const { house, acme, makeDirectory } = await openScimStage()

suite('removals are many', () => {
  const cases: [removed: number, size: number, boolean][] = [
    [4, 4, false],
    [5, 5, true],
    [5, 25, false],
    [6, 25, true],
    [200, 1_000, false],
    [201, 1_000, true],
  ]
  for (const [removed, size, expected] of cases) {
    test(`${removed} of ${size}: ${expected}`, () => assert.equal(areMany({ removed, size }), expected))
  }
})

const stop = (directory: Directory, id: string) =>
  directory.call('PATCH', `/Users/${id}`, { Operations: [{ op: 'Replace', path: 'active', value: 'False' }] })

const events = (tenant_id: string, type: string) =>
  house.asSuperuser<{ data: Record<string, unknown>; subject_id: string }>(
    'select data, subject_id from event where tenant_id = $1 and type = $2 order by seq',
    [tenant_id, type],
  )

async function tenantWith(config: object) {
  const tenant = await house.tenant(`With ${newId()}`)
  const directory = await makeDirectory(tenant)
  const { tenant_id, owner } = tenant
  await house.call({
    method: 'PATCH',
    url: `/v1/identity-providers/${directory.id}`,
    ...{ api_key: owner.api_key, tenant_id, body: { config } },
  })
  const ids: string[] = []
  for (let place = 0; place < 8; place += 1) {
    ids.push((await directory.user({ userName: `u${place}@many.example` })).id)
  }
  return { tenant_id, directory, ids }
}

test('many removals within an hour are reported to the owners once, and go through', async () => {
  const { tenant_id, directory, ids } = await tenantWith({})
  for (const id of ids.slice(0, 7)) assert.equal((await stop(directory, id)).status, 200)
  const reported = await events(tenant_id, 'identity_provider.mass_removal')
  assert.deepEqual(
    reported.map(({ data }) => data),
    [{ removed: 5, size: 8, refused: false }],
  )
})

test('many removals are refused where the tenant wants that, by deactivation and by deletion', async () => {
  const { tenant_id, directory, ids } = await tenantWith({ mass_removals: 'refuse' })
  for (const id of ids.slice(0, 4)) assert.equal((await stop(directory, id)).status, 200)
  for (let times = 0; times < 2; times += 1) {
    const reply = await stop(directory, String(ids[4]))
    assert.equal(reply.status, 403, reply.text)
    assert.match(String(reply.body.detail), /20 %/)
    assert.equal((await directory.call('DELETE', `/Users/${ids[5]}`)).status, 403)
  }
  const { active } = (await directory.call('GET', `/Users/${ids[4]}`)).body
  assert.equal(active, true)
  const reported = await events(tenant_id, 'identity_provider.mass_removal')
  assert.deepEqual(
    reported.map(({ data }) => data),
    [{ removed: 5, size: 8, refused: true }],
  )
  assert.equal((await events(tenant_id, 'user.deactivated')).length, 4)
})

test('a misspelled wish to refuse many removals refuses them', async () => {
  for (const mass_removals of ['Refuse', true]) {
    const { directory, ids } = await tenantWith({ mass_removals })
    for (const id of ids.slice(0, 4)) assert.equal((await stop(directory, id)).status, 200)
    assert.equal((await stop(directory, String(ids[4]))).status, 403)
  }
})

test('many removals at the same moment are refused as those one after another', async () => {
  const { directory, ids } = await tenantWith({ mass_removals: 'refuse' })
  const replies = await Promise.all(ids.map((id) => stop(directory, id)))
  const stopped = replies.filter(({ status }) => status === 200)
  assert.equal(stopped.length, 4, replies.map(({ text }) => text).join('\n'))
})

test('a removal counts those that another transaction of the directory has not committed yet', async () => {
  const { tenant_id, directory, ids } = await tenantWith({})
  const beside = openDatabase(house.service, { writes: 1, long: 1 })
  let reply: Promise<ScimReply> | undefined
  await beside.tenant(tenant_id).interactive(async (tx) => {
    const of = { identity_provider_id: directory.id, author: null, actor: systemActor, request_id: 'another' }
    await countRemovals({ ...of, tx }, 4)
    reply = stop(directory, ids[0] ?? '')
    await aLockIsWaitedFor(house, tx)
  })
  await beside.close()
  assert.equal((await reply)?.status, 200)
  const [reported] = await events(tenant_id, 'identity_provider.mass_removal')
  assert.equal(reported?.data.removed, 5)
})

test('the deletion of a user who was stopped before counts as no removal', async () => {
  const { tenant_id, directory, ids } = await tenantWith({ mass_removals: 'refuse' })
  for (const id of ids.slice(0, 4)) {
    assert.equal((await stop(directory, id)).status, 200)
    assert.equal((await directory.call('DELETE', `/Users/${id}`)).status, 204)
  }
  assert.equal((await events(tenant_id, 'identity_provider.mass_removal')).length, 0)
})

test('a change that stops nobody counts as no removal', async () => {
  const { tenant_id, directory, ids } = await tenantWith({ mass_removals: 'refuse' })
  for (const id of ids) {
    const reply = await directory.call('PATCH', `/Users/${id}`, {
      Operations: [{ op: 'add', path: 'title', value: 'x' }],
    })
    assert.equal(reply.status, 200)
  }
  assert.equal((await events(tenant_id, 'identity_provider.mass_removal')).length, 0)
})

suite('the last owner of a tenant, whom a directory manages', async () => {
  const directory = await makeDirectory()
  const { tenant_id, owner } = acme
  const { id } = await directory.user({ userName: 'boss@example.com' })
  const own = (user_id: string, is_owner: boolean) =>
    house.asSuperuser('update tenant_user set is_owner = $3 where tenant_id = $1 and id = $2', [
      tenant_id,
      user_id,
      is_owner,
    ])
  await own(id, true)
  await own(owner.user_id, false)

  test('is not deactivated and not deleted, and is reported once', async () => {
    for (let times = 0; times < 2; times += 1) {
      const stopped = await stop(directory, id)
      assert.equal(stopped.status, 409, stopped.text)
      assert.equal((await directory.call('DELETE', `/Users/${id}`)).status, 409)
    }
    assert.equal((await directory.call('GET', `/Users/${id}`)).body.active, true)
    const refused = await events(tenant_id, 'user.removal_refused')
    assert.deepEqual(
      refused.map(({ subject_id }) => subject_id),
      [id],
    )
  })

  test('is deactivated beside another owner', async () => {
    await own(owner.user_id, true)
    assert.equal((await stop(directory, id)).status, 200)
  })
})

test('a user who becomes the last owner while their directory stops them stays', async () => {
  const { tenant_id, owner } = await house.tenant('Changing hands')
  const directory = await makeDirectory({ ...acme, tenant_id, owner })
  const { id } = await directory.user({ userName: 'heir@example.com' })
  const beside = openDatabase(house.service, { writes: 1, long: 1 })
  let reply: Promise<ScimReply> | undefined
  await beside.tenant(tenant_id).interactive(async (inside) => {
    await inside.write([sql`select from tenant_user where tenant_id = ${tenant_id} and id = ${id} for update`])
    reply = stop(directory, id)
    await aLockIsWaitedFor(house, inside)
    await inside.write([sql`update tenant_user set is_owner = id = ${id} where tenant_id = ${tenant_id}`])
  })
  await beside.close()
  assert.equal((await reply)?.status, 409)
  assert.equal((await directory.call('GET', `/Users/${id}`)).body.active, true)
})
