import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { bareDatabase } from '../../test/support/backup-database.ts'
import { openHouse } from '../../test/support/house.ts'
import { migrate } from '../db/migrate.ts'
import { systemActor } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { insertRole } from './role-store.ts'

const house = await openHouse()
const { tenant_id, owner } = await house.tenant('names of roles')

const call = (method: string, url: string, body?: unknown) =>
  house.call({ method, url, token: owner.token, tenant_id, ...(body !== undefined && { body }) })

async function role(): Promise<string> {
  return String((await call('POST', '/v1/roles', { name: 'a role', scopes: ['users:read'] })).body.id)
}

suite('a custom role', () => {
  test('cannot get the name of a system role, in any spelling; the attempt is recorded (P2)', async () => {
    const refusals = () =>
      house.asSuperuser<{ subject_id: string }>(
        `select subject_id from event where type = 'access.refused' and subject_type = 'role' and tenant_id = $1`,
        [tenant_id],
      )
    const message = 'the system role `Admin` has this name; choose another name'
    const id = await role()
    const before = await call('GET', `/v1/roles/${id}`)
    const past = (await refusals()).length
    for (const name of ['Admin', 'ADMIN', ' admin ', 'ＡＤＭＩＮ', 'Ad\u200bmin', 'Admin\u2060']) {
      const made = await call('POST', '/v1/roles', { name, scopes: ['users:read'] })
      const renamed = await call('PATCH', `/v1/roles/${id}`, { name, description: 'new' })
      for (const { status, body } of [made, renamed])
        assert.deepEqual([status, body.code, body.message], [403, 'forbidden', message], JSON.stringify(name))
    }
    assert.deepEqual((await call('GET', `/v1/roles/${id}`)).body, before.body)
    const kept = (await refusals()).slice(past)
    assert.deepEqual([kept.length, kept.filter(({ subject_id }) => subject_id === id).length], [12, 6])
  })

  test('with a name of before that rule can be changed otherwise, and renamed (P2)', async () => {
    const id = await role()
    // A spelling that the database does not fold.
    const name = 'Audi\u00adtor'
    await house.asSuperuser('update role set name = $2 where id = $1', [id, name])
    const described = await call('PATCH', `/v1/roles/${id}`, { description: 'new' })
    assert.deepEqual([described.status, described.body.name], [200, name], described.text)
    assert.equal((await call('PATCH', `/v1/roles/${id}`, described.body)).status, 200)
    assert.equal((await call('PATCH', `/v1/roles/${id}`, { name: 'Auditor' })).status, 403)
    assert.equal((await call('PATCH', `/v1/roles/${id}`, { name: 'Desk' })).status, 200)
  })
})

type NamedRole = { name: string; version: number }

suite('roles that were named like a system role', () => {
  test('get another name by the migration, with an event, in every tenant, and the system roles keep theirs (P2)', async () => {
    const db = await bareDatabase()
    await migrate(db.owner, '0034_grant_transitions')
    const long = `Admin${' '.repeat(195)}`
    const custom = ['Admin', ' aUDITOR ', 'ｕｓｅｒ', long, 'Desk', 'Admins', 'Approver (custom)']
    for (const tenant_id of [newId(), newId()]) {
      await db.asSuperuser(`insert into tenant (id, name) values ($1, 'a tenant')`, [tenant_id])
      await db.asSuperuser(
        `insert into role (tenant_id, id, name, scopes, system)
          select $1::uuid, gen_random_uuid()::text, name, '{}'::text[], false from unnest($2::text[]) as name
          union all
          select $1::uuid, lower(name), name, '{}', true from unnest('{User,Approver,Admin,Auditor}'::text[]) as name`,
        [tenant_id, custom],
      )
    }
    await migrate(db.owner)
    const roles = (system: boolean) =>
      db.asSuperuser<NamedRole>(`select name, version from role where system = $1 order by name collate "C"`, [system])
    const renamed = ['Admin (custom)', 'aUDITOR (custom)', 'ｕｓｅｒ (custom)', 'Admin (custom)']
    const expected = [
      ...renamed.map((name) => ({ name, version: 2 })),
      ...custom.slice(4).map((name) => ({ name, version: 1 })),
    ]
    const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1)
    assert.deepEqual((await roles(false)).sort(byName), [...expected, ...expected].sort(byName))
    assert.deepEqual(
      (await roles(true)).map(({ name, version }) => `${name} ${version}`),
      ['Admin', 'Approver', 'Auditor', 'User'].flatMap((name) => [`${name} 1`, `${name} 1`]),
    )
    const events = await db.asSuperuser(
      `select type, actor_kind, actor_id, subject_type, data, r.name from event e
        join role r on r.tenant_id = e.tenant_id and r.id = e.subject_id order by r.name collate "C"`,
    )
    const data = { fields: ['name'], scopes_added: [], scopes_removed: [] }
    const event = { type: 'role.updated', actor_kind: 'system', actor_id: null, subject_type: 'role', data }
    const twice = [...renamed, ...renamed].map((name) => ({ ...event, name }))
    assert.deepEqual(events, twice.sort(byName))
    const forced = await db.asSuperuser(
      `select relname from pg_class where relname in ('role', 'event') and relforcerowsecurity`,
    )
    assert.equal(forced.length, 2)
  })
})

test('the database refuses a custom role with a system role’s name, as the service does (P2)', async () => {
  for (const name of ['Admin', ' AUDITOR', 'ｕｓｅｒ']) {
    await assert.rejects(
      house.asSuperuser(
        `insert into role (tenant_id, id, name, scopes) values ($1, gen_random_uuid()::text, $2, '{}')`,
        [tenant_id, name],
      ),
      /role_name_system_ck/,
    )
  }
  const ctx = { tx: house.database.tenant(tenant_id), actor: systemActor, request_id: 'test' }
  await assert.rejects(insertRole(ctx, { id: newId(), name: 'Admin', description: '', scopes: [] }), {
    code: 'forbidden',
    message: 'a system role has this name; choose another name',
  })
})
