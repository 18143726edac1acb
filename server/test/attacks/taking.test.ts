import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { deleteLocalMember } from '../../src/groups/group-member-store.ts'
import type { Actor, Tx } from '../../src/kernel/context.ts'
import { newId } from '../../src/kernel/id.ts'
import { deleteUnusedRole } from '../../src/roles/role-store.ts'
import { openHouse, type Person, type Reply } from '../support/house.ts'
import { aLockIsWaitedFor } from '../support/lock.ts'

/**
 * Every way to take rights away, or the person who holds them. The desk may write users, groups and roles, and lacks
 * `audit:read` alone.
 */
const house = await openHouse()
const { tenant_id, owner } = await house.tenant('taking')
const tx = house.database.tenant(tenant_id)
const deskScopes = ['users:write', 'groups:write', 'roles:write', 'requests:create']

const call = (by: Pick<Person, 'token'>, method: string, url: string, body?: unknown) =>
  house.call({ method, url, token: by.token, tenant_id, ...(body !== undefined && { body }) })

async function asOwner(method: string, url: string, body?: unknown): Promise<string> {
  const { status, body: made, text } = await call(owner, method, url, body)
  assert.ok(status < 300, text)
  return String(made.id)
}

const role = (...scopes: string[]) => asOwner('POST', '/v1/roles', { name: 'a role', scopes })

async function person(...roles: string[]): Promise<string> {
  const email = `${newId()}@example.com`
  const id = await asOwner('POST', '/v1/users', { email, name: 'X', roles: ['user'], auth_provider: 'oidc' })
  await asOwner('PUT', `/v1/users/${id}/roles`, { roles: ['user', ...roles] })
  return id
}

async function group({ gives = [], has = [] }: { gives?: string[]; has?: string[] }): Promise<string> {
  const id = await asOwner('POST', '/v1/groups', { name: 'a group' })
  await asOwner('PUT', `/v1/groups/${id}/role-mappings`, { role_ids: gives })
  for (const user_id of has) await asOwner('POST', `/v1/groups/${id}/members`, { user_id })
  return id
}

const auditing = await role('audit:read')
const harmless = await role('requests:create')
const desk = await house.person(tenant_id, await person(await role(...deskScopes)))
const fullDesk = await house.person(tenant_id, await person(await role(...deskScopes), auditing))

/** A call that takes something away, and what it is about. */
type Take = { method: string; url: string; body?: unknown; subject: string }

/** Each way to take `audit:read` from somebody. */
const takes: Record<string, () => Promise<Take>> = {
  'deleting a user': async () => {
    const subject = await person(auditing)
    return { method: 'DELETE', url: `/v1/users/${subject}`, subject }
  },
  'deleting a user who holds it by a group': async () => {
    const subject = await person()
    await group({ gives: [auditing], has: [subject] })
    return { method: 'DELETE', url: `/v1/users/${subject}`, subject }
  },
  'deactivating a user': async () => {
    const subject = await person(auditing)
    return { method: 'PATCH', url: `/v1/users/${subject}`, body: { active: false }, subject }
  },
  'removing the role of a user': async () => {
    const subject = await person(auditing)
    return { method: 'PUT', url: `/v1/users/${subject}/roles`, body: { roles: ['user'] }, subject }
  },
  'removing a lesser role of a user': async () => {
    const subject = await person(auditing, harmless)
    return { method: 'PUT', url: `/v1/users/${subject}/roles`, body: { roles: ['user', auditing] }, subject }
  },
  'removing a lesser role of a user who holds it by a group': async () => {
    const subject = await person(harmless)
    await group({ gives: [auditing], has: [subject] })
    return { method: 'PUT', url: `/v1/users/${subject}/roles`, body: { roles: ['user'] }, subject }
  },
  'removing a member': async () => {
    const user_id = await person()
    const subject = await group({ gives: [auditing, harmless], has: [user_id] })
    return { method: 'DELETE', url: `/v1/groups/${subject}/members/${user_id}`, subject }
  },
  'removing a role of a group': async () => {
    const subject = await group({ gives: [auditing, harmless] })
    return { method: 'PUT', url: `/v1/groups/${subject}/role-mappings`, body: { role_ids: [harmless] }, subject }
  },
  'deleting a group': async () => {
    const subject = await group({ gives: [auditing, harmless] })
    return { method: 'DELETE', url: `/v1/groups/${subject}`, subject }
  },
  'removing a scope of a role': async () => {
    const subject = await role('audit:read', 'requests:create')
    return { method: 'PATCH', url: `/v1/roles/${subject}`, body: { scopes: ['requests:create'] }, subject }
  },
  'deleting a role': async () => {
    const subject = await role('audit:read', 'requests:create')
    return { method: 'DELETE', url: `/v1/roles/${subject}`, subject }
  },
}

const send = (by: Pick<Person, 'token'>, { method, url, body }: Take) => call(by, method, url, body)

function requireRefused(reply: Reply, lacking = ['audit:read']): void {
  assert.deepEqual([reply.status, reply.body.code, reply.body.details], [403, 'forbidden', { scopes: lacking }])
  assert.match(
    String(reply.body.message),
    /^you cannot take away a scope that you lack: audit:read; .*a user who holds/,
  )
}

/** The audit entries of refusals about a subject, and of everything else since. */
async function eventsOf(subject: string) {
  return house.asSuperuser<{ type: string; actor_id: string; scopes: unknown }>(
    `select type, actor_id, data -> 'scopes' as scopes from event where subject_id = $1 order by seq`,
    [subject],
  )
}

for (const [name, prepare] of Object.entries(takes)) {
  suite(name, () => {
    test('is refused to a caller who lacks the scope, changes nothing, and is recorded (P34)', async () => {
      const take = await prepare()
      const before = await eventsOf(take.subject)
      requireRefused(await send(desk, take))
      const [refusal, ...more] = (await eventsOf(take.subject)).slice(before.length)
      const expected = { type: 'access.refused', actor_id: desk.user_id, scopes: ['audit:read'] }
      assert.deepEqual([refusal, more], [expected, []])
    })

    test('is refused to a narrow key of a caller who has the scope (P34)', async () => {
      const take = await prepare()
      const { method, url, body } = take
      const key = await call(owner, 'POST', '/v1/api-keys', { name: 'narrow', scopes: deskScopes })
      const api_key = String(key.body.key)
      requireRefused(await house.call({ method, url, api_key, tenant_id, ...(body !== undefined && { body }) }))
    })

    test('is done for a caller who has the scope', async () => {
      const take = await prepare()
      const reply = await send(fullDesk, take)
      assert.ok(reply.status < 300, reply.text)
      assert.notEqual((await eventsOf(take.subject)).at(-1)?.type, 'access.refused')
    })
  })
}

suite('taking', () => {
  test('needs no scope where nothing is taken', async () => {
    const strong = await person(auditing)
    assert.equal((await call(desk, 'PATCH', `/v1/users/${strong}`, { name: 'Y' })).status, 200)
    const same = { roles: [auditing, 'user', harmless] }
    assert.equal((await call(desk, 'PUT', `/v1/users/${strong}/roles`, same)).status, 200)
    const given = await group({ gives: [auditing] })
    const more = { role_ids: [auditing, harmless] }
    assert.equal((await call(desk, 'PUT', `/v1/groups/${given}/role-mappings`, more)).status, 200)
  })

  test('is allowed to users themselves, however they hold their rights', async () => {
    const [mine, strong] = [await role('users:write', 'groups:write'), await role('audit:read')]
    const one = async () => {
      const user_id = await person(mine, auditing)
      const group_id = await group({ gives: [strong], has: [user_id] })
      return { ...(await house.person(tenant_id, user_id)), group_id }
    }
    const [leaver, demoted, deactivated, deleted] = [await one(), await one(), await one(), await one()]
    const ways: [Person, string, string, unknown?][] = [
      [leaver, 'DELETE', `/v1/groups/${leaver.group_id}/members/${leaver.user_id}`],
      [demoted, 'PUT', `/v1/users/${demoted.user_id}/roles`, { roles: [] }],
      [deactivated, 'PATCH', `/v1/users/${deactivated.user_id}`, { active: false }],
      [deleted, 'DELETE', `/v1/users/${deleted.user_id}`],
    ]
    for (const [by, method, url, body] of ways) {
      const reply = await call(by, method, url, body)
      assert.ok(reply.status < 300, `${method} ${url} ${reply.text}`)
    }
  })

  test('from a user is refused to their own key with fewer scopes (P34)', async () => {
    const user_id = await person(await role('users:write', 'api_keys:write', 'audit:read'))
    const self = await house.person(tenant_id, user_id)
    const key = await call(self, 'POST', '/v1/api-keys', { name: 'narrow', scopes: ['users:write'] })
    const [url, api_key] = [`/v1/users/${user_id}`, String(key.body.key)]
    const reply = await house.call({ method: 'DELETE', url, api_key, tenant_id })
    assert.equal(reply.status, 403, reply.text)
  })

  test('reports a missing record first, then a missing right, then what else stands in the way (P34)', async () => {
    const stale = { 'if-match': '"stale"' }
    const owners = `/v1/users/${owner.user_id}`
    const asked = async (by: Person, method: string, url: string, body?: unknown) => {
      const { token } = by
      const sent = { method, url, token, tenant_id, headers: stale, ...(body !== undefined && { body }) }
      return (await house.call(sent)).body.code
    }
    for (const [method, path, body] of [
      ['DELETE', '', undefined],
      ['PATCH', '', { active: false }],
      ['PUT', '/roles', { roles: [] }],
    ] as const) {
      assert.equal(await asked(desk, method, `/v1/users/${newId()}${path}`, body), 'not_found')
      assert.equal(await asked(desk, method, owners + path, body), 'forbidden')
      assert.equal(await asked(owner, method, owners + path, body), 'last_owner')
      const strong = `/v1/users/${await person(auditing)}${path}`
      assert.equal(await asked(desk, method, strong, body), 'forbidden')
      assert.equal(await asked(fullDesk, method, strong, body), 'precondition_failed')
    }
  })
})

suite('rights that grow at the same moment', () => {
  const deskActor: Actor = { kind: 'user', user_id: desk.user_id, api_key_id: null, scopes: new Set(deskScopes) }
  const give = (id: string) => sql`insert into user_role (tenant_id, user_id, role_id)
    values (${tenant_id}, ${id}, ${auditing})`
  const lockUser = (id: string) => sql`select from tenant_user where id = ${id} for no key update`
  const lockGroup = (id: string) => sql`select from tenant_group where id = ${id} for no key update`
  const map = (id: string) => sql`insert into group_role (tenant_id, group_id, role_id)
    values (${tenant_id}, ${id}, ${auditing})`
  const widen = (id: string) => sql`update role set scopes = '{audit:read}' where id = ${id}`

  /** What gives `audit:read` while the call waits, and the call. Without the gift, the desk may do it. */
  const growing: Record<string, () => Promise<Take & { grow(inside: Tx, id: string): Promise<unknown> }>> = {
    'deleting a user who is given a role': async () => {
      const subject = await person()
      const grow = (inside: Tx, id: string) => inside.write([lockUser(id), give(id)])
      return { method: 'DELETE', url: `/v1/users/${subject}`, subject, grow }
    },
    'deleting a user who becomes a member': async () => {
      const subject = await person()
      const group_id = await group({ gives: [auditing] })
      const share = sql`select from tenant_user where id = ${subject} for share`
      const join = sql`insert into group_member (tenant_id, group_id, user_id, membership_source)
        values (${tenant_id}, ${group_id}, ${subject}, 'local')`
      const grow = (inside: Tx) => inside.write([share, join])
      return { method: 'DELETE', url: `/v1/users/${subject}`, subject, grow }
    },
    'deactivating a user who is given a role': async () => {
      const subject = await person()
      const grow = (inside: Tx, id: string) => inside.write([lockUser(id), give(id)])
      return { method: 'PATCH', url: `/v1/users/${subject}`, body: { active: false }, subject, grow }
    },
    'demoting a user who is given a role': async () => {
      const subject = await person(harmless)
      const grow = (inside: Tx, id: string) => inside.write([lockUser(id), give(id)])
      const body = { roles: ['user', auditing] }
      return { method: 'PUT', url: `/v1/users/${subject}/roles`, body, subject, grow }
    },
    'deleting a group that is mapped': async () => {
      const subject = await group({})
      const grow = (inside: Tx, id: string) => inside.write([lockGroup(id), map(id)])
      return { method: 'DELETE', url: `/v1/groups/${subject}`, subject, grow }
    },
    'setting the roles of a group that is mapped': async () => {
      const subject = await group({ gives: [harmless] })
      const grow = (inside: Tx, id: string) => inside.write([lockGroup(id), map(id)])
      return { method: 'PUT', url: `/v1/groups/${subject}/role-mappings`, body: { role_ids: [] }, subject, grow }
    },
    'narrowing a role that is widened': async () => {
      const subject = await role('requests:create')
      const grow = (inside: Tx, id: string) => inside.write([widen(id)])
      return { method: 'PATCH', url: `/v1/roles/${subject}`, body: { scopes: [] }, subject, grow }
    },
    'deleting a role that is widened': async () => {
      const subject = await role('requests:create')
      const grow = (inside: Tx, id: string) => inside.write([widen(id)])
      return { method: 'DELETE', url: `/v1/roles/${subject}`, subject, grow }
    },
  }
  for (const [name, prepare] of Object.entries(growing)) {
    test(`are seen by ${name} (P34)`, async () => {
      const { grow, ...take } = await prepare()
      const replies: Promise<Reply>[] = []
      await tx.interactive(async (inside) => {
        await grow(inside, take.subject)
        replies.push(send(desk, take))
        await aLockIsWaitedFor(house, inside)
      })
      const [reply] = await Promise.all(replies)
      assert.ok(reply)
      requireRefused(reply)
    })
  }

  test('are guarded in the statements themselves, where no lock is held (P34)', async () => {
    const ctx = { tx, actor: deskActor, request_id: 'test' }
    const member = await person()
    const group_id = await group({ gives: [auditing], has: [member] })
    assert.equal(await deleteLocalMember(ctx, group_id, member), false)
    const role_id = await role('audit:read')
    assert.equal(await deleteUnusedRole(ctx, role_id, undefined), false)
    const strong = { ...ctx, actor: { ...deskActor, scopes: new Set([...deskScopes, 'audit:read']) } }
    assert.equal(await deleteLocalMember(strong, group_id, member), true)
    assert.equal(await deleteUnusedRole(strong, role_id, undefined), true)
  })
})
