import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { aLockIsWaitedFor } from '../../test/support/lock.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { sql } from '../db/sql.ts'

const house = await openHouse()
const on = await requestStage(house, 'many requests')
const { people, tenant_id } = on
await on.rule('permit (principal, action, resource == cloud_account::"900000000001");')
await on.rule('@approval_mode("auto") permit (principal, action, resource == cloud_account::"900000000002");')
const ask = (person: Person, id = '900000000001') => on.call(person, 'POST', '/v1/requests', on.account(id))
const pendingOf = async ({ user_id }: Person) => {
  const rows = await house.asSuperuser(
    `select id from access_request where tenant_id = $1 and requester_id = $2 and status = 'pending'`,
    [tenant_id, user_id],
  )
  return rows.map(({ id }) => String(id))
}
/** More of the same request. */
const copies = (id: string, count: number) => sql`insert into access_request
  select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid()))).*
  from access_request r, generate_series(1, ${count}::integer) where r.tenant_id = ${tenant_id} and r.id = ${id}`

test('a user has at most 100 pending requests, also when two are made at the same moment', async () => {
  const { id } = (await ask(people.user)).body
  const last = await house.database.tenant(tenant_id).interactive(async (tx) => {
    // As a call does that makes the hundredth and is not committed yet.
    await tx.write([
      sql`select from tenant_user where tenant_id = ${tenant_id} and id = ${people.user.user_id} for no key update`,
      copies(String(id), 99),
    ])
    const next = ask(people.user)
    await aLockIsWaitedFor(house, tx)
    return { next }
  })
  const refused = await last.next
  assert.deepEqual([refused.status, refused.body.code], [422, 'unprocessable'])
  assert.match(refused.text, /you have 100 pending requests/)
  assert.equal((await pendingOf(people.user)).length, 100)
})

test('the limit holds for no other user, and for no request that is approved at once', async () => {
  assert.equal((await ask(people.admin)).status, 201)
  assert.equal((await ask(people.user, '900000000002')).body.status, 'approved')
})

test('a user at the limit who cancels a request may make another one', async () => {
  const [first] = await pendingOf(people.user)
  assert.equal((await ask(people.user)).status, 422)
  assert.equal((await on.call(people.user, 'DELETE', `/v1/requests/${first}`)).status, 204)
  assert.equal((await ask(people.user)).status, 201)
})
