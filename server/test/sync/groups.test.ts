import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../support/house.ts'
import { member, syncStage } from '../support/sync-stage.ts'

/** Groups of a directory that is read, and who is in them. */
const house = await openHouse()

suite('a group of a directory that is read', async () => {
  const stage = await syncStage(house, await house.tenant('Acme'))
  const { said, sync, call, tenant_id } = stage
  const people = ['a', 'b', 'c'].map((id) => member(id))
  const groups = async () => {
    const rows = await house.asSuperuser<{ name: string; source: string; members: string[] }>(
      `select g.name, g.source, array(select d.external_id from group_member m
          join directory_user d on d.tenant_id = m.tenant_id and d.user_id = m.user_id
          where m.tenant_id = g.tenant_id and m.group_id = g.id
            and m.membership_source = g.source order by 1) as members
        from tenant_group g where g.tenant_id = $1 and g.source <> 'local' order by g.name`,
      [tenant_id],
    )
    return rows.map(({ name, source, members }) => [name, source, members.join()])
  }

  test('is made with the people who came before it, from all of its pages', async () => {
    said.pages = [
      { people },
      { groups: [{ id: 'g1', name: 'Engineers', member_ids: ['a', 'nobody'] }] },
      {
        groups: [
          { id: 'g1', name: 'Engineers', member_ids: ['b'] },
          { id: 'g2', name: 'Empty', member_ids: [] },
        ],
      },
    ]
    const run = await sync()
    assert.deepEqual([run.status, run.counts.groups, run.counts.groups_added], ['synced', 2, 2])
    assert.deepEqual(await groups(), [
      ['Empty', 'identity_provider', ''],
      ['Engineers', 'identity_provider', 'a,b'],
    ])
  })

  test('that is as it was is not written', async () => {
    const run = await sync()
    assert.deepEqual([run.counts.groups_changed, run.progress], [0, { ...Object(run.progress), done: 0 }])
  })

  test('gets those who come in the same run', async () => {
    const withNew = [...people, member('d')]
    said.pages = [{ people: withNew, groups: [{ id: 'g1', name: 'Engineers', member_ids: ['a', 'b', 'd'] }] }]
    const run = await sync()
    assert.deepEqual([run.counts.added, run.counts.groups_changed], [1, 1])
    assert.deepEqual((await groups()).at(-1), ['Engineers', 'identity_provider', 'a,b,d'])
    said.pages = [{ people: withNew, groups: [{ id: 'g1', name: 'Engineers', member_ids: ['a', 'b'] }] }]
    assert.equal((await sync()).counts.groups_changed, 1)
  })

  test('gives roles at once, and takes them', async () => {
    const [{ id: group_id } = { id: '' }] = await house.asSuperuser<{ id: string }>(
      "select id from tenant_group where tenant_id = $1 and name = 'Engineers'",
      [tenant_id],
    )
    const mapped = await call('PUT', `/v1/groups/${group_id}/role-mappings`, { role_ids: ['approver'] })
    assert.equal(mapped.status, 200, mapped.text)
    const [, b] = await stage.users()
    const scopes = async () => {
      const person = await house.person(tenant_id, String(b?.id))
      const reply = await house.call({ method: 'GET', url: '/v1/users/me', tenant_id, token: person.token })
      return (reply.body.scopes as string[]).includes('requests:approve')
    }
    assert.equal(await scopes(), true)
    said.pages = [{ people, groups: [{ id: 'g1', name: 'Engineering', member_ids: ['a', 'c'] }] }]
    const run = await sync()
    assert.equal(run.counts.groups_changed, 1)
    assert.equal(await scopes(), false)
    assert.deepEqual((await groups()).at(-1), ['Engineering', 'identity_provider', 'a,c'])
  })

  test('is changed by nobody here', async () => {
    const [{ id: group_id } = { id: '' }] = await house.asSuperuser<{ id: string }>(
      "select id from tenant_group where tenant_id = $1 and name = 'Engineering'",
      [tenant_id],
    )
    const [a, b] = await stage.users()
    const tries = [
      await call('POST', `/v1/groups/${group_id}/members`, { user_id: b?.id }),
      await call('DELETE', `/v1/groups/${group_id}/members/${a?.id}`),
      await call('PATCH', `/v1/groups/${group_id}`, { name: 'Other' }),
      await call('DELETE', `/v1/groups/${group_id}`),
      await call('PATCH', `/v1/users/${a?.id}`, { name: 'Other' }),
    ]
    assert.deepEqual(
      tries.map(({ status }) => status),
      [403, 403, 403, 403, 403],
    )
  })

  test('that is gone from the directory loses its members, and keeps its roles', async () => {
    said.pages = [{ people }]
    const run = await sync()
    assert.equal(run.counts.groups_emptied, 1)
    assert.deepEqual((await groups()).at(-1), ['Engineering', 'identity_provider', ''])
    said.pages = [{ people, groups: [{ id: 'g1', name: 'Engineering', member_ids: ['b'] }] }]
    assert.equal((await sync()).counts.groups_changed, 1)
    assert.deepEqual((await groups()).at(-1), ['Engineering', 'identity_provider', 'b'])
    assert.equal((await sync()).counts.groups_changed, 0)
  })

  test('is one of those that a run empties only when a person confirms it, if they are many', async () => {
    const many = Array.from({ length: 6 }, (_, index) => ({ id: `m${index}`, name: `M ${index}`, member_ids: ['a'] }))
    said.pages = [{ people, groups: many }]
    await sync()
    const before = await groups()
    // Those that are still there, without anybody, are emptied as well.
    said.pages = [{ people, groups: many.slice(0, 3).map((group) => ({ ...group, member_ids: [] })) }]
    const run = await sync()
    const { data } = (await call('GET', `${stage.url}/sync-runs/${run.id}/changes?kind=group&limit=200`)).body
    const listed = (data as { kind: string; change: string; outcome: string }[]).filter(
      ({ change }) => change === 'empty',
    )
    assert.deepEqual([listed.length, listed[0]?.kind, listed[0]?.outcome], [6, 'group', 'planned'])
    assert.deepEqual([run.status, run.needs_confirmation], ['failed', true])
    assert.match(String(run.error), /^6 of 6 groups would lose all their members/)
    assert.deepEqual(await groups(), before)
    assert.equal((await sync({ confirm_removals_of: run.id })).counts.groups_emptied, 6)
  })
})

test('a group whose new members could not be made keeps those that it has', async () => {
  const { said, sync, call, url, tenant_id } = await syncStage(house, await house.tenant('Missing'))
  const groups = (member_ids: string[]) =>
    Array.from({ length: 6 }, (_, index) => ({ id: `m${index}`, name: `M ${index}`, member_ids }))
  said.pages = [{ people: [member('a')], groups: groups(['a']) }]
  await sync()
  const same = { emails: [{ value: 'same@example.com' }] }
  // People are made in the order of their ids, a hundred at a time.
  const between = Array.from({ length: 100 }, (_, index) => member(`n${index}`))
  const all = [member('a'), member('b', same), ...between, member('z', same)]
  said.pages = [{ people: all, groups: groups(['z']) }]
  const run = await sync()
  assert.deepEqual([run.status, run.counts.added, run.counts.failed, run.counts.groups_failed], ['synced', 101, 1, 6])
  const { data } = (await call('GET', `${url}/sync-runs/${run.id}/changes?kind=group`)).body
  const [first] = data as { change: string; outcome: string; message: string }[]
  assert.deepEqual([first?.change, first?.outcome], ['empty', 'refused'])
  assert.match(String(first?.message), /the next run decides/)
  const members = await house.asSuperuser(
    `select m.user_id from group_member m join tenant_group g on g.tenant_id = m.tenant_id and g.id = m.group_id
      where g.tenant_id = $1 and g.name like 'M %'`,
    [tenant_id],
  )
  assert.equal(members.length, 6)
})

test('a name that nobody can see makes no group, and the others are made', async () => {
  const { said, sync } = await syncStage(house, await house.tenant('Other'))
  said.pages = [
    {
      groups: [
        { id: 'g1', name: '\u200b', member_ids: [] },
        { id: 'g2', name: 'Seen', member_ids: [] },
      ],
    },
  ]
  const run = await sync()
  assert.deepEqual([run.status, run.counts.groups_failed, run.counts.groups_added], ['synced', 1, 1])
})
