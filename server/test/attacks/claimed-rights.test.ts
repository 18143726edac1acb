import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { allScopes } from '../../src/permissions/permission.ts'
import { openClaimsStage } from '../support/claims-stage.ts'
import type { Reply } from '../support/house.ts'
import { redirect_uri } from '../support/sign-in-stage.ts'

/** Claims give no rights that nobody who holds them vouched for (P31). */
const stage = await openClaimsStage()
const {
  house,
  asOwner,
  must,
  by,
  open,
  makeGroup,
  map,
  someone,
  enter,
  groupsOf,
  mappings,
  changes,
  endDue,
  settings,
} = stage
const sensitive = ['groups:read', 'audit:read']

const put = (token: string, change: object) =>
  by(token, 'PUT', '/v1/settings/sign-in', { ...settings, redirect_uris: [redirect_uri], ...change })
const refusal = ({ status, body }: Reply) => [status, (body.details as { scopes?: string[] } | undefined)?.scopes]
const patchRole = (token: string, role: string, scopes: readonly string[]) =>
  by(token, 'PATCH', `/v1/roles/${role}`, { scopes })

/** A group that confers `sensitive`, with a mapping that gave it to Anna. */
async function mapped() {
  const { group_id, role } = await makeGroup(await open(), sensitive)
  await map([{ value: 'eng', group_id }])
  return { group_id, role, anna: await enter('anna', { groups: ['eng'] }) }
}

suite('a mapping', () => {
  test('is added and removed only by callers with every scope of its group (P31)', async () => {
    const { group_id } = await makeGroup(await open(), sensitive)
    const [narrow, wide] = [
      await someone(['settings:write', 'groups:write', 'groups:read']),
      await someone(['settings:write', 'groups:write', ...sensitive]),
    ]
    const group_mappings = [{ value: 'eng', group_id }]
    assert.deepEqual(refusal(await put(narrow.token, { group_mappings })), [403, ['audit:read']])
    assert.deepEqual(await mappings(), [])
    await must(put(wide.token, { group_mappings }))
    assert.deepEqual(refusal(await put(narrow.token, { group_mappings: [] })), [403, ['audit:read']])
    const kept = await must(put(narrow.token, { group_mappings }))
    assert.deepEqual(
      kept.body.group_mappings,
      [{ value: 'eng', group_id, in_effect: true }],
      'what stays needs no right',
    )
    const [event] = await house.asSuperuser(
      `select actor_id from event where tenant_id = $1 and type = 'access.refused' and subject_id = 'sign-in'`,
      [stage.tenant().tenant_id],
    )
    assert.deepEqual(event, { actor_id: narrow.user_id })
    await must(put(wide.token, { group_mappings: [] }))
  })

  test('that is removed ends what it gave, and what it gave alone', async () => {
    const { group_id, anna } = await mapped()
    const other = await makeGroup(await open())
    await map([
      { value: 'eng', group_id },
      { value: 'ops', group_id: other.group_id },
    ])
    await enter('anna', { groups: ['eng', 'ops'] })
    await map([{ value: 'ops', group_id: other.group_id }])
    assert.deepEqual(await groupsOf(anna.id), [other.group_id])
    assert.equal((await by(anna.token, 'GET', '/v1/groups')).status, 403)
    await endDue()
    assert.deepEqual((await changes(anna.id)).at(-1), { type: 'group.member_removed', cause: 'mapping_removed' })
  })

  test('is to a group of this provider, and is sent once', async () => {
    const provider = await open()
    const { group_id } = await makeGroup(provider)
    const local = String((await must(asOwner('POST', '/v1/groups', { name: 'Local' }))).body.id)
    const foreign = await house.tenant('another tenant')
    const theirs = String((await must(stage.configure({ groups_claim: 'groups' }, foreign))).body.id)
    const body = { name: 'Theirs', sign_in_provider_id: theirs }
    const of = (await must(asOwner('POST', '/v1/groups', body, foreign))).body.id
    const unknown = '018f6d5e-7e5a-7cc0-b0e6-7a9d1b5f4e11'
    for (const other of [local, String(of), unknown]) {
      const reply = await put(stage.tenant().owner.token, {
        group_mappings: [
          { value: 'eng', group_id },
          { value: 'ops', group_id: other },
        ],
      })
      const [field] = (reply.body.details as { fields: { pointer: string }[] }).fields
      assert.deepEqual([reply.status, field?.pointer], [422, '/group_mappings/1/group_id'], reply.text)
    }
    const twice = await put(stage.tenant().owner.token, {
      group_mappings: [
        { value: 'eng', group_id },
        { value: 'eng', group_id: group_id.toUpperCase() },
      ],
    })
    const [field] = (twice.body.details as { fields: { pointer: string }[] }).fields
    assert.deepEqual([twice.status, field?.pointer], [400, '/group_mappings/1'], twice.text)
    for (const sign_in_provider_id of [theirs, unknown]) {
      const reply = await asOwner('POST', '/v1/groups', { name: 'X', sign_in_provider_id })
      assert.equal(reply.status, 422, reply.text)
    }
    assert.deepEqual(await mappings(), [])
  })
})

test('the claim is set only by a caller with every scope (P31)', async () => {
  const { group_id, anna } = await mapped()
  const narrow = await someone(['settings:write', 'groups:write', ...sensitive])
  for (const groups_claim of ['email', null]) {
    const [status, lacking] = refusal(await put(narrow.token, { groups_claim }))
    assert.ok(status === 403 && Array.isArray(lacking) && lacking.length > 0)
  }
  await must(put(narrow.token, { groups_claim: 'groups', enabled: true }))
  assert.deepEqual(await groupsOf(anna.id), [group_id])
})

suite('a group of the sign-in provider', () => {
  test('takes no local members, gives none away, and can be renamed and deleted here', async () => {
    const { group_id, anna } = await mapped()
    const { user_id } = stage.tenant().people.user
    const at = `/v1/groups/${group_id}`
    assert.equal((await asOwner('POST', `${at}/members`, { user_id })).status, 403)
    assert.equal((await asOwner('DELETE', `${at}/members/${anna.id}`)).status, 403)
    assert.equal((await must(asOwner('PATCH', at, { name: 'Renamed' }))).body.name, 'Renamed')
    const reader = await someone(['groups:write'])
    assert.deepEqual(refusal(await by(reader.token, 'DELETE', at)), [403, sensitive.toSorted()])
    await must(asOwner('DELETE', at))
    assert.deepEqual([await groupsOf(anna.id), await mappings()], [[], []])
    const [event] = await house.asSuperuser(`select data from event where subject_id = $1 and type = 'group.deleted'`, [
      group_id,
    ])
    assert.deepEqual(event, { data: { mapped_values: ['eng'] } })
    await enter('anna', { groups: ['eng'] })
    assert.deepEqual(await groupsOf(anna.id), [])
  })

  test('is no group that a SCIM key reaches', async () => {
    await mapped()
    const provider = { name: 'Directory', provider_type: 'custom_scim' }
    const identity_provider_id = (await must(asOwner('POST', '/v1/identity-providers', provider))).body.id
    const maker = await someone(['api_keys:write', 'identity_providers:write', 'users:write', 'groups:write'])
    await must(by(maker.token, 'POST', '/v1/api-keys', { name: 'k', identity_provider_id }))
  })
})

suite('a group that comes to give more', () => {
  /** Each way gives the group of a mapping `users:read` too. */
  const ways: [string, (token: string, of: { group_id: string; role: string }) => Promise<Reply>][] = [
    ['by its role', (token, { role }) => patchRole(token, role, [...sensitive, 'users:read'])],
    [
      'by another role',
      async (token, { group_id, role }) => {
        const more = String(
          (await must(asOwner('POST', '/v1/roles', { name: 'more', scopes: ['users:read'] }))).body.id,
        )
        return by(token, 'PUT', `/v1/groups/${group_id}/role-mappings`, { role_ids: [role, more] })
      },
    ],
  ]
  const writing = ['roles:write', 'groups:write']
  for (const [name, widen] of ways) {
    for (const lacking of ['settings:write', 'audit:read']) {
      test(`${name}, from one who lacks ${lacking}, has no members by claims any more (P31)`, async () => {
        const { group_id, role, anna } = await mapped()
        const all = [...writing, ...sensitive, 'users:read', 'settings:write']
        const widener = await someone(all.filter((scope) => scope !== lacking))
        await must(widen(widener.token, { group_id, role }))
        assert.deepEqual(await groupsOf(anna.id), [])
        assert.equal((await by(anna.token, 'GET', '/v1/groups')).status, 403)
        await enter('anna', { groups: ['eng'] })
        assert.deepEqual(await groupsOf(anna.id), [], 'nor at the next sign-in')
        const removed = { type: 'group.member_removed', cause: 'mapping_out_of_effect' }
        assert.deepEqual((await changes(anna.id)).at(-1), removed, 'which finds it before the job')
        assert.deepEqual(await mappings(), [{ value: 'eng', group_id, in_effect: false }])

        await must(
          put((await someone(['settings:write', 'groups:write'])).token, {
            group_mappings: [{ value: 'eng', group_id }],
          }),
        )
        assert.deepEqual((await mappings())[0]?.in_effect, false, 'saved by one who lacks the scopes')
        await map(await mappings())
        assert.deepEqual((await mappings())[0]?.in_effect, true, 'saved by one who holds them')
        await enter('anna', { groups: ['eng'] })
        assert.deepEqual(await groupsOf(anna.id), [group_id])
      })
    }

    test(`${name}, from one who may set mappings, keeps its members (P31)`, async () => {
      const { group_id, role, anna } = await mapped()
      const widener = await someone([...writing, ...sensitive, 'users:read', 'settings:write'])
      await must(widen(widener.token, { group_id, role }))
      assert.deepEqual(await groupsOf(anna.id), [group_id])
      assert.deepEqual((await mappings())[0]?.in_effect, true)
      assert.equal((await by(anna.token, 'GET', '/v1/users')).status, 200)
    })
  }

  test('is not vouched for unseen: the settings as they were read before are refused (P31)', async () => {
    const { group_id, role } = await mapped()
    const { owner, tenant_id } = stage.tenant()
    const url = '/v1/settings/sign-in'
    const { etag } = (await must(asOwner('GET', url))).headers
    const narrow = await someone(['roles:write', ...sensitive, 'users:read'])
    await must(patchRole(narrow.token, role, [...sensitive, 'users:read']))
    const body = { ...settings, redirect_uris: [redirect_uri], group_mappings: [{ value: 'eng', group_id }] }
    const call = { method: 'PUT', url, body, token: owner.token, tenant_id, headers: { 'if-match': String(etag) } }
    assert.equal((await house.call(call)).status, 412)
    assert.deepEqual(await mappings(), [{ value: 'eng', group_id, in_effect: false }])
    await must(asOwner('DELETE', `/v1/groups/${group_id}`))
    assert.notEqual((await must(asOwner('GET', url))).headers.etag, etag)
  })

  test('stays out of effect when another widens it further (P31)', async () => {
    const { group_id, role } = await mapped()
    const narrow = await someone(['roles:write', ...sensitive, 'users:read'])
    await must(patchRole(narrow.token, role, [...sensitive, 'users:read']))
    await must(asOwner('PATCH', `/v1/roles/${role}`, { scopes: [...sensitive, 'users:read', 'grants:read'] }))
    assert.deepEqual(await mappings(), [{ value: 'eng', group_id, in_effect: false }])
    await must(asOwner('PATCH', `/v1/roles/${role}`, { scopes: sensitive }))
    assert.deepEqual((await mappings())[0]?.in_effect, true, 'until it gives no more than was vouched for')
  })

  test('gives the owner’s mapping of an admin’s role every scope', async () => {
    const { group_id } = await makeGroup(await open())
    await must(asOwner('PUT', `/v1/groups/${group_id}/role-mappings`, { role_ids: ['admin'] }))
    await map([{ value: 'eng', group_id }])
    const { token } = await enter('anna', { groups: ['eng'] })
    const { body } = await by(token, 'GET', '/v1/users/me')
    const expected = allScopes.filter((scope) => scope !== 'scim:provision')
    assert.deepEqual((body.scopes as string[]).toSorted(), expected.toSorted())
  })
})
