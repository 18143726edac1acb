import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { fullBody } from '../support/full-bodies.ts'
import { operations } from '../support/house.ts'
import { presentedTo } from '../support/presented.ts'
import { addressed } from '../support/samples.ts'
import { openStage } from '../support/stage.ts'

/** An id belongs to one record permanently: no caller chooses one, and a deleted user does not return as another user. */
const { house, ours, theirs, ourRecords: records } = await openStage()

for (const [operationId, { method, path, body, status, credential }] of Object.entries(operations)) {
  if (method !== 'POST' || status !== 201 || body === undefined) continue
  test(`${operationId} makes its ids itself: it accepts neither an id nor a tenant from a caller (T12)`, async () => {
    for (const name of ['id', 'tenant_id', 'created_by', 'uuid']) {
      const reply = await house.call({
        method,
        url: addressed(path, records),
        ...presentedTo({ credential }, ours.owner),
        tenant_id: ours.tenant_id,
        body: { ...(fullBody(operationId) as object), [name]: newId() },
      })
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'], name)
      const { fields } = reply.body.details as { fields: { pointer: string }[] }
      assert.deepEqual(
        fields.map(({ pointer }) => pointer),
        [`/${name}`],
      )
    }
  })
}

suite('a deleted user', () => {
  const { tenant_id, owner } = ours
  const gone = ours.people.user
  const as = (credential: object, in_tenant: string) =>
    house.call({ method: 'GET', url: '/v1/requests', tenant_id: in_tenant, ...credential })

  test('keeps their id: their row stays, never changes again and cannot be created again (T12)', async () => {
    const reply = await house.call({
      method: 'DELETE',
      url: `/v1/users/${gone.user_id}`,
      token: owner.token,
      tenant_id,
    })
    assert.equal(reply.status, 204)
    const row = 'select id, deleted_at is not null as deleted from tenant_user where tenant_id = $1 and id = $2'
    assert.deepEqual(await house.asSuperuser(row, [tenant_id, gone.user_id]), [{ id: gone.user_id, deleted: true }])
    await assert.rejects(house.asSuperuser('update tenant_user set active = true where id = $1', [gone.user_id]), {
      constraint: 'tenant_user_deleted',
    })
    await assert.rejects(house.asSuperuser('delete from tenant_user where id = $1', [gone.user_id]), { code: '23503' })
    await assert.rejects(
      house.asSuperuser('insert into tenant_user select (t).* from (select t from tenant_user t where id = $1) as t', [
        gone.user_id,
      ]),
    )
  })

  test('gets no access by their old credentials, not even if another tenant has a user of that id (T12)', async () => {
    // No call can do this, but a careless restore could.
    await house.asSuperuser(
      `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
        values ($1, $2, 'reborn@example.com', 'reborn@example.com', 'Reborn', 'local')`,
      [theirs.tenant_id, gone.user_id],
    )
    for (const credential of [{ token: gone.token }, { api_key: gone.api_key }]) {
      for (const in_tenant of [tenant_id, theirs.tenant_id]) {
        const reply = await as(credential, in_tenant)
        assert.deepEqual([reply.status, reply.body.code], [401, 'unauthenticated'])
      }
    }
    const reborn = await house.person(theirs.tenant_id, gone.user_id)
    assert.equal((await as({ token: reborn.token }, theirs.tenant_id)).status, 200)
    assert.equal((await as({ token: reborn.token }, tenant_id)).body.code, 'tenant_mismatch')
  })
})
