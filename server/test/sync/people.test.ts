import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../support/house.ts'
import { member, syncStage } from '../support/sync-stage.ts'

/** Who the people of a directory that is read are here. */
const house = await openHouse()
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

suite('a person whose address somebody here has', async () => {
  const stage = await syncStage(house, await house.tenant('Acme'))
  const { said, sync, call, changes, users, url } = stage
  const makeUser = async (email: string) =>
    String((await call('POST', '/v1/users', { name: 'Here', roles: ['user'], auth_provider: 'oidc', email })).body.id)
  const user_id = await makeUser('a@example.com')
  said.pages = [{ people: [member('a'), member('b')] }]

  test('is to be settled by a person: a dry run says so, and keeps nothing', async () => {
    const run = await sync({ dry_run: true })
    assert.deepEqual([run.counts.to_settle, run.counts.added], [1, 1])
    assert.deepEqual((await call('GET', `${url}/conflicts`)).body.data, [])
  })

  test('is a conflict from a run on, and the others are made', async () => {
    const run = await sync()
    assert.deepEqual([run.status, run.counts.to_settle, run.counts.added], ['synced', 1, 1])
    assert.deepEqual(await changes(run.id), [
      ['a', 'settle', 'done'],
      ['b', 'add', 'done'],
    ])
    const synced = () =>
      house.asSuperuser("select id from event where type = 'identity_provider.synced' and subject_id = $1", [stage.id])
    assert.equal((await synced()).length, 1)
    await sync()
    assert.equal((await synced()).length, 1, 'the same conflict is no news')
    const conflicts = (await call('GET', `${url}/conflicts`)).body.data as { id: string; user_id: string }[]
    assert.deepEqual(
      conflicts.map((conflict) => conflict.user_id),
      [user_id],
    )
  })

  test('is the user from the settlement on, and changes with the directory', async () => {
    const [conflict] = (await call('GET', `${url}/conflicts`)).body.data as { id: string }[]
    const by = { method: 'POST', url: `${url}/conflicts/${conflict?.id}/settle`, tenant_id: stage.tenant_id }
    const settled = await house.call({ ...by, token: stage.owner.token, body: { user_id } })
    assert.equal(settled.status, 200, settled.text)
    said.pages = [{ people: [member('a', { displayName: 'Ada' }), member('b')] }]
    const run = await sync()
    assert.deepEqual([run.counts.changed, run.counts.to_settle, run.counts.unchanged], [1, 0, 1])
    assert.deepEqual(
      (await users()).map(({ id, name }) => [id === user_id, name]),
      [
        [true, 'Ada'],
        [false, 'Person b'],
      ],
    )
  })

  test('is left out where a person kept the two apart', async () => {
    await makeUser('c@example.com')
    said.pages = [{ people: [member('a', { displayName: 'Ada' }), member('b'), member('c')] }]
    assert.equal((await sync()).counts.to_settle, 1)
    const [conflict] = (await call('GET', `${url}/conflicts`)).body.data as { id: string }[]
    const by = { method: 'POST', url: `${url}/conflicts/${conflict?.id}/settle`, tenant_id: stage.tenant_id }
    assert.equal((await house.call({ ...by, token: stage.owner.token, body: { user_id: null } })).status, 200)
    const run = await sync()
    assert.deepEqual([run.counts.to_settle, run.counts.left_out], [0, 1])
  })

  test('is the user at once only where the operator vouched for the domain, and the account was made for it', async () => {
    const { said, sync, call, id, tenant_id, users } = await syncStage(house, await house.tenant('Vouched'))
    const make = (email: string, auth_provider: string, more = {}) =>
      call('POST', '/v1/users', { name: 'Here', roles: ['user'], auth_provider, email, ...more })
    const meant = await make('a@example.com', 'oidc')
    await make('local@example.com', 'local', { password: 'a long enough passphrase' })
    await house.asSuperuser("insert into tenant_mail_domain (tenant_id, domain) values ($1, 'example.com')", [
      tenant_id,
    ])
    await house.asSuperuser(
      `insert into sign_in_setting (tenant_id, id, issuer, client_id, redirect_uris, scopes, enabled,
          identity_provider_id)
        values ($1, gen_random_uuid(), 'https://idp.example', 'sallyport', '{}', '{}', true, $2)`,
      [tenant_id, id],
    )
    said.pages = [{ people: [member('a'), member('local')] }]
    const dry = await sync({ dry_run: true })
    const run = await sync()
    for (const { counts } of [dry, run]) assert.deepEqual([counts.adopted, counts.to_settle], [1, 1])
    assert.deepEqual(
      (await users()).map((user) => user.id),
      [meant.body.id],
    )
  })
})

suite('the facts of a person', async () => {
  const stage = await syncStage(house, await house.tenant('Acme'))
  const { said, sync, users, tenant_id, owner } = stage
  const reports = (id: string, manager: string) =>
    member(id, { title: 'Engineer', [enterprise]: { department: 'Platform', manager: { value: manager } } })
  const facts = async () => {
    const ids = new Map((await users()).map(({ id, external_id }) => [id, external_id]))
    const rows = await house.asSuperuser<Record<string, string | null> & { id: string; manager_id: string | null }>(
      `select id, department, title, manager_id, facts_set_by from tenant_user where tenant_id = $1 and id = any($2)`,
      [tenant_id, [...ids.keys()]],
    )
    return new Map(
      rows.map(({ id, department, title, manager_id, facts_set_by }) => [
        ids.get(id),
        [department, title, ids.get(manager_id ?? ''), facts_set_by],
      ]),
    )
  }

  test('come with them, in whatever order, and count as given by who said where the directory is read', async () => {
    said.pages = [{ people: [reports('a', 'z'), reports('b', 'a')] }, { people: [reports('z', 'nobody')] }]
    assert.equal((await sync()).counts.added, 3)
    const by = owner.user_id
    assert.deepEqual(Object.fromEntries(await facts()), {
      a: ['Platform', 'Engineer', 'z', by],
      b: ['Platform', 'Engineer', 'a', by],
      z: ['Platform', 'Engineer', undefined, by],
    })
  })

  test('change with the directory', async () => {
    said.pages = [{ people: [reports('a', 'b'), reports('b', 'a'), member('z')] }]
    assert.equal((await sync()).counts.changed, 2)
    const now = await facts()
    assert.deepEqual([now.get('a')?.[2], now.get('b')?.[2], now.get('z')?.[0]], ['b', 'a', null])
  })
})

suite('a person who is disabled in the directory', () => {
  const ways: Record<string, Record<string, unknown>> = {
    'and has no address any more': { emails: [], userName: 'a' },
    'and has a title that is too long': { title: 'x'.repeat(601) },
    'as a text': { active: 'False', title: 'x'.repeat(601) },
    'and whose mail goes to a colleague': { emails: [{ value: 'b@example.com', primary: true }] },
  }
  for (const [how, more] of Object.entries(ways)) {
    test(`${how}, is stopped`, async () => {
      const { said, sync, users } = await syncStage(house, await house.tenant('Acme'))
      said.pages = [{ people: [member('a'), member('b')] }]
      await sync()
      said.pages = [{ people: [member('a', { active: false, ...more }), member('b')] }]
      const run = await sync()
      assert.deepEqual([run.counts.disabled, run.counts.failed], [1, 0])
      assert.deepEqual(
        (await users()).map(({ active }) => active),
        [false, true],
      )
      assert.equal((await sync()).counts.failed, how === 'and whose mail goes to a colleague' ? 1 : 0)
    })
  }
})

suite('texts that the database cannot store', () => {
  test('keep nobody else from being read', async () => {
    const { said, sync, users } = await syncStage(house, await house.tenant('Acme'))
    const odd = member('a', { title: 'Engi\u0000neer', displayName: 'Ada \ud83d' })
    const cut = { id: 'cut', resource: { userName: `${'x'.repeat(599)}\ud83d\ude00` } }
    const groups = [{ id: 'g', name: 'De\u0000sk', member_ids: ['a', 'b\u0000', '\ud83d', 'y'.repeat(6_000), 'b'] }]
    said.pages = [{ people: [odd, cut, member('b')] }, { groups }]
    const run = await sync()
    assert.deepEqual([run.status, run.error, run.counts.added, run.counts.failed], ['synced', null, 2, 1])
    assert.equal((await users())[0]?.name, 'Ada \ufffd')
    for (const id of ['\u0000', '\ud83d', '']) {
      said.pages = [{ people: [member('a'), { ...member('b'), id }] }]
      const { status, error } = await sync()
      assert.deepEqual([status, /^the person `.*has an id that cannot be kept/.test(String(error))], ['failed', true])
    }
  })
})

suite('a person whose data cannot be used', () => {
  test('is named with the reason, and the others are made', async () => {
    const { said, sync, call, url, users } = await syncStage(house, await house.tenant('Acme'))
    said.pages = [
      {
        people: [
          { id: 'none', resource: { userName: 'robot' } },
          member('b'),
          member('long', { title: 'x'.repeat(700) }),
        ],
      },
    ]
    const run = await sync()
    assert.deepEqual([run.status, run.counts.failed, run.counts.added], ['synced', 2, 1])
    const { data } = (await call('GET', `${url}/sync-runs/${run.id}/changes?change=invalid`)).body
    const [long, none] = data as { source_id: string; user_name: string; message: string; outcome: string }[]
    assert.deepEqual([none?.source_id, none?.user_name, none?.outcome], ['none', 'robot', 'refused'])
    assert.match(String(none?.message), /has no e-mail address/)
    assert.match(String(long?.message), /`title`/)
    assert.equal((await users()).length, 1)
  })

  test('stays as they were, if they are a user: an error upstream stops nobody', async () => {
    const { said, sync, users } = await syncStage(house, await house.tenant('Acme'))
    said.pages = [{ people: [member('a')] }]
    await sync()
    said.pages = [{ people: [{ id: 'a', resource: { userName: 'a', active: true } }] }]
    const run = await sync()
    assert.deepEqual([run.counts.failed, run.counts.disabled], [1, 0])
    assert.deepEqual(
      (await users()).map(({ name, active }) => [name, active]),
      [['Person a', true]],
    )
  })

  test('that has the address of another user of a directory is named, and neither changes', async () => {
    const { said, sync, users } = await syncStage(house, await house.tenant('Acme'))
    said.pages = [{ people: [member('a'), member('b')] }]
    await sync()
    const both = [{ value: 'b@example.com', primary: true }]
    said.pages = [{ people: [member('a', { emails: both }), member('b'), member('c', { emails: both })] }]
    const run = await sync()
    assert.deepEqual([run.counts.failed, run.counts.changed, run.counts.added], [2, 0, 0])
    assert.deepEqual(
      (await users()).map(({ email }) => email),
      ['a@example.com', 'b@example.com'],
    )
  })
})
