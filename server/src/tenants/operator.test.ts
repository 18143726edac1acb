import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { newId } from '../kernel/id.ts'
import { systemRoles } from '../roles/role.ts'
import { unknownTenants, verifyPassword } from '../users/password.ts'
import { findSignIn, insertUser } from '../users/user-store.ts'
import { createTenant, operatorCtx } from './create-tenant.flow.ts'
import { addMailDomain, issueKey, listMailDomains, listTenants, removeMailDomain, resetOwner } from './operator.flow.ts'

const db = await testDatabase()
const owner = { email: 'owner@example.com', name: 'Owner', password: 'correct horse battery' }
let acme: string
let other: string

before(async () => {
  acme = (await createTenant(db.database, { name: 'Acme', owner })).tenant_id
  other = (await createTenant(db.database, { name: 'Other', owner: { ...owner, email: 'b@example.com' } })).tenant_id
  const user = { id: newId(), email: 'anna@example.com', name: 'Anna', roles: ['user' as const], avatar_base64: null }
  const more = { auth_provider: 'local' as const, password_hash: null, is_owner: false }
  await insertUser(operatorCtx(db.database.tenant(acme)), { ...user, ...more })
  const ada = { id: newId(), email: 'ada@rehearsal.invalid', rehearsal: 'ada' }
  await insertUser(operatorCtx(db.database.tenant(acme)), { ...user, ...more, ...ada })
})

test('a tenant with a faulty name, address or password is not created', async () => {
  const bad: [Parameters<typeof createTenant>[1], RegExp][] = [
    [{ name: '', owner }, /name/],
    [{ name: 'X\u202e', owner }, /name/],
    [{ name: 'X', owner: { ...owner, name: 'Owner\u200f' } }, /name/],
    [{ name: 'X', owner: { ...owner, email: 'nobody' } }, /email/],
    [{ name: 'X', owner: { ...owner, password: 'short' } }, /password/],
  ]
  for (const [tenant, why] of bad) await assert.rejects(createTenant(db.database, tenant), why)
  assert.equal((await listTenants(db.database)).length, 2)
})

test('every tenant is listed with its owners, the oldest first', async () => {
  const rows = (await listTenants(db.database)).map(({ id, name, owners, users }) => ({ id, name, owners, users }))
  assert.deepEqual(rows, [
    { id: acme, name: 'Acme', owners: ['owner@example.com'], users: 3 },
    { id: other, name: 'Other', owners: ['b@example.com'], users: 1 },
  ])
})

suite('resetting an owner', () => {
  test('replaces the password and emits an event', async () => {
    const reset = await resetOwner(db.database, { email: 'OWNER@example.com' })
    assert.equal(reset.tenant_id, acme)
    const { hash, user_id } = (await findSignIn(db.database.tenant(acme), owner.email)) ?? {}
    assert.ok(await verifyPassword(unknownTenants, reset.password, hash ?? undefined))
    assert.ok(!(await verifyPassword(unknownTenants, owner.password, hash ?? undefined)))
    const events = await db.asSuperuser(`select actor_kind, subject_id from event where type = 'user.password_reset'`)
    assert.deepEqual(events, [{ actor_kind: 'operator', subject_id: user_id }])
  })

  test('works only for owners, and requires a tenant if there are several', async () => {
    await assert.rejects(resetOwner(db.database, { email: 'anna@example.com' }), /owns no tenant/)
    await assert.rejects(resetOwner(db.database, { email: owner.email, tenant_id: other }), /owns no tenant/)
    await assert.rejects(resetOwner(db.database, { email: owner.email, tenant_id: newId() }), /no tenant/)
    const third = await createTenant(db.database, { name: 'Third', owner })
    await assert.rejects(resetOwner(db.database, { email: owner.email }), /more than one.*--tenant/)
    const reset = await resetOwner(db.database, { email: owner.email, tenant_id: third.tenant_id })
    assert.equal(reset.tenant_id, third.tenant_id)
  })

  test('says whether the owner is deactivated, or suspended and until when', async () => {
    const reset = async () => {
      const { active, suspended_until } = await resetOwner(db.database, { email: 'b@example.com' })
      return [active, suspended_until]
    }
    const become = (change: string) => db.asSuperuser(`update tenant_user set ${change} where tenant_id = $1`, [other])
    assert.deepEqual(await reset(), [true, null])
    await become(`active = false, suspended_until = '2999-03-01T08:00:00Z'`)
    assert.deepEqual(await reset(), [false, '2999-03-01T08:00:00.000Z'])
    await become(`active = true, suspended_until = '2020-03-01T08:00:00Z'`)
    assert.deepEqual(await reset(), [true, null])
  })

  test('is refused for an owner who signs in with a provider', async () => {
    await db.asSuperuser(`update tenant_user set auth_provider = 'oidc' where tenant_id = $1`, [other])
    await assert.rejects(resetOwner(db.database, { email: 'b@example.com' }), /signs in with oidc/)
    await db.asSuperuser(`update tenant_user set auth_provider = 'local' where tenant_id = $1`, [other])
  })
})

suite('issuing a key', () => {
  const keyInput = { name: 'ci', scopes: 'all', expires_in: 3600 } as const

  test('with all scopes gives the scopes of the user, and ends at the requested time', async () => {
    const key = await issueKey(db.database, { ...keyInput, tenant_id: acme, email: 'anna@example.com' })
    assert.deepEqual(key.scopes, systemRoles.user.scopes)
    const left = new Date(key.expires_at ?? 0).getTime() - Date.now()
    assert.ok(left > 3_500_000 && left <= 3_600_000)
  })

  test('with more than the user holds, or for an unknown user, is refused', async () => {
    const faulty: [object, RegExp][] = [
      [{ scopes: ['users:read'] }, /lack users:read/],
      [{ scopes: ['users:fly'] }, /no such scope/],
      [{ email: 'nobody@example.com' }, /no user/],
      [{ email: 'ada@rehearsal.invalid' }, /name a real person/],
      [{ tenant_id: newId() }, /no tenant/],
      [{ tenant_id: 'acme' }, /no tenant/],
      [{ name: '' }, /name of a key/],
      [{ name: 'ci\u202e' }, /name of a key/],
      [{ name: 'x'.repeat(201) }, /name of a key/],
    ]
    for (const [more, why] of faulty) {
      await assert.rejects(
        issueKey(db.database, { ...keyInput, tenant_id: acme, email: 'anna@example.com', ...more }),
        why,
      )
    }
  })
})

suite('domains that a tenant can send mail from', () => {
  const namesOf = async (tenant_id: string) =>
    (await listMailDomains(db.database, tenant_id)).map(({ domain }) => domain)

  test('are added and removed with one event each, and belong to one tenant (J8, T1)', async () => {
    const mailDomain = { tenant_id: acme, domain: 'BÜCHER.example' }
    const domain = 'xn--bcher-kva.example'
    assert.deepEqual(await addMailDomain(db.database, mailDomain), { domain, added: true, shared: false })
    assert.deepEqual(await addMailDomain(db.database, mailDomain), { domain, added: false, shared: false })
    assert.deepEqual([await namesOf(acme), await namesOf(other)], [[domain], []])
    const both = { ...mailDomain, tenant_id: other }
    assert.deepEqual(await addMailDomain(db.database, both), { domain, added: true, shared: true })
    await removeMailDomain(db.database, both)
    await assert.rejects(removeMailDomain(db.database, { ...mailDomain, tenant_id: other }), /has no mail domain/)
    assert.deepEqual(await removeMailDomain(db.database, mailDomain), { domain })
    await assert.rejects(removeMailDomain(db.database, mailDomain), /has no mail domain/)
    assert.deepEqual(await namesOf(acme), [])
    const events = await db.asSuperuser(
      `select type, actor_kind, data from event where tenant_id = $1 and type like 'tenant.mail%' order by seq`,
      [acme],
    )
    assert.deepEqual(
      events,
      ['added', 'removed'].map((what) => ({
        type: `tenant.mail_domain_${what}`,
        actor_kind: 'operator',
        data: { domain },
      })),
    )
  })

  test('must be valid, of an existing tenant, and at most 100', async () => {
    const faulty: [string, string, RegExp][] = [
      [acme, 'a@example.com', /is not a valid domain/],
      [acme, '*.example.com', /is not a valid domain/],
      [newId(), 'example.com', /no tenant/],
    ]
    for (const [tenant_id, domain, why] of faulty) {
      await assert.rejects(addMailDomain(db.database, { tenant_id, domain }), why)
    }
    const many = Array.from({ length: 100 }, (_, index) => `d${index}.example`)
    await Promise.all(many.map((domain) => addMailDomain(db.database, { tenant_id: other, domain })))
    const one = { tenant_id: other, domain: 'one-too-many.example' }
    await assert.rejects(addMailDomain(db.database, one), /100 domains already/)
  })
})
