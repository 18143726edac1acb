import assert from 'node:assert/strict'
import { sql } from '../../src/db/sql.ts'
import { insertGrants } from '../../src/grants/grant-store.ts'
import type { Tx } from '../../src/kernel/context.ts'
import type { House, Person } from './house.ts'

const password = 'a long enough password'

/** A tenant where every user may request access, with users who join and leave: for tests of users who leave. */
export async function comingAndGoing(house: House, name: string) {
  const tenant = await house.tenant(name)
  const { tenant_id, owner, people } = tenant

  const call = (person: Person, method: string, url: string, body?: unknown) =>
    house.call({ method, url, token: person.token, tenant_id, ...(body !== undefined && { body }) })
  const created = async (url: string, body: unknown, person = owner) => {
    const reply = await call(person, 'POST', url, body)
    assert.equal(reply.status, 201, reply.text)
    return String(reply.body.id)
  }
  const policy = await created('/v1/policies', { name: 'everybody may ask' })
  await created(`/v1/policies/${policy}/rules`, { effect: 'permit' })

  let count = 0
  async function newcomer(roles = ['user']): Promise<Person & { email: string }> {
    count += 1
    const email = `newcomer${count}@example.com`
    const user_id = await created('/v1/users', { email, name: 'Newcomer', roles, password })
    return { ...(await house.person(tenant_id, user_id)), email }
  }

  const asking = (id = '123456789012') => ({ resource: { type: 'cloud_account', id }, action: 'ReadOnly' })
  const ask = (person: Person, id?: string) => created('/v1/requests', asking(id), person)
  async function held(person: Person, id?: string): Promise<{ request_id: string; grant_id: string }> {
    const request_id = await ask(person, id)
    const approved = await call(people.approver, 'POST', `/v1/requests/${request_id}/approve`, {})
    assert.equal(approved.status, 200, approved.text)
    const [grant] = await house.asSuperuser<{ id: string }>('select id from access_grant where request_id = $1', [
      request_id,
    ])
    assert.ok(grant)
    return { request_id, grant_id: grant.id }
  }

  const deactivate = (id: string, by = owner) => call(by, 'PATCH', `/v1/users/${id}`, { active: false })
  const deleteUser = (id: string, by = owner) => call(by, 'DELETE', `/v1/users/${id}`)
  const suspend = (id: string, by = owner) => call(by, 'POST', `/v1/users/${id}/suspend`)
  const signIn = (email: string) =>
    house.call({ method: 'POST', url: '/v1/auth/login', tenant_id, body: { email, password } })

  /** The first half of an approval: of a request for one account, with its grant, in a transaction that is still open. */
  async function approveUncommitted(inside: Tx, request_id: string): Promise<void> {
    await inside.write([
      sql`with approved as (
          update access_request set status = 'approved', decided_by = ${people.approver.user_id},
            next_look_at = null
          where tenant_id = ${tenant_id} and id = ${request_id} returning *)
        ${insertGrants([{ type: 'cloud_account', id: '123456789012' }], 'ReadOnly', sql`approved`)}`,
    ])
  }

  return {
    ...tenant,
    approveUncommitted,
    ...kept(house),
    password,
    call,
    created,
    newcomer,
    asking,
    ask,
    held,
    deactivate,
    deleteUser,
    suspend,
    signIn,
  }
}

/** Reads the tenant's rows from the database. */
function kept(house: House) {
  async function eventsOf(id: string): Promise<{ type: string; data: unknown }[]> {
    return house.asSuperuser('select type, data from event where subject_id = $1 order by seq', [id])
  }
  async function typesOf(id: string): Promise<string[]> {
    return (await eventsOf(id)).map((event) => event.type)
  }
  async function requestIs(id: string): Promise<unknown> {
    return (await house.asSuperuser('select status from access_request where id = $1', [id]))[0]?.status
  }
  async function grantOf(id: string): Promise<Record<string, unknown>> {
    const [grant] = await house.asSuperuser(
      'select status, provisioning_status, ended_by, end_reason, next_look_at from access_grant where id = $1',
      [id],
    )
    return grant ?? {}
  }
  /** Everything that a user still waits for or holds. */
  async function leftOf(user_id: string): Promise<unknown[]> {
    return house.asSuperuser(
      `select id from access_request where requester_id = $1 and status = 'pending'
        union all select id from access_grant where user_id = $1 and status in ('pending', 'active')`,
      [user_id],
    )
  }

  return { eventsOf, typesOf, requestIs, grantOf, leftOf }
}
