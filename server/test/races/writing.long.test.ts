import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reply } from '../support/client.ts'
import { anyOf, inParallel, rounds, together } from '../support/race.ts'
import { startTwoProcesses } from '../support/two-processes.ts'
import { until } from '../support/wait.ts'

/** Two processes write the same records at the same moment. */
const service = await startTwoProcesses()
const { owner } = service

type Answer = Reply<Record<string, unknown>>

const outcomesOf = (replies: readonly Answer[]) =>
  replies.map(({ status, body }) => `${status} ${body.code ?? ''}`.trim()).sort()

async function made(path: string, body: unknown): Promise<string> {
  const reply = await owner[0]('POST', path, body)
  assert.equal(reply.status, 201, JSON.stringify(reply.body))
  return String(reply.body.id)
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, by: Math.random() }))
    .sort((a, b) => a.by - b.by)
    .map(({ item }) => item)
}

test('bulk upserts of the same ids in any order do not deadlock, and each row has data of one writer (R8)', async () => {
  const ids = Array.from({ length: 300 }, (_, index) => `account-${index}`)
  for (const round of rounds(6)) {
    const writers = [0, 1, 2, 3].map((writer) => {
      // One writer sends all of them, the others most.
      const own = shuffled(ids).slice(0, ids.length - 40 * writer)
      const name = `round ${round} by ${writer}`
      const resources = own.map((id) => ({ id, account_id: '1', name, metadata: { name } }))
      return () => owner[writer % 2 === 0 ? 0 : 1]('PUT', '/v1/cloud/accounts', { resources })
    })
    const replies = await together(writers)
    assert.deepEqual(
      replies.map(({ status, body }) => [status, body.upserted]),
      [0, 1, 2, 3].map((writer) => [200, ids.length - 40 * writer]),
    )
    const rows = await service.asSuperuser<{ name: string; told: string }>(
      `select name, metadata ->> 'name' as told from cloud_account where name like $1 and id like 'account-%'`,
      [`round ${round} by %`],
    )
    assert.equal(rows.length, ids.length, 'a row has data of the previous round')
    for (const row of rows) assert.equal(row.told, row.name, 'a row has data of two writers')
  }
})

test('reorders of all, of some, and new policies beside them leave a total order (R9)', async () => {
  const ids: string[] = []
  for (let n = 0; n < 12; n += 1) ids.push(await made('/v1/policies', { name: `policy ${n}` }))
  await inParallel(rounds(12), 3, async () => {
    const replies = await together([
      () => owner[0]('PATCH', '/v1/policies/reorder', { ids: shuffled(ids) }),
      () => owner[1]('PATCH', '/v1/policies/reorder', { ids: shuffled(ids).slice(0, 5) }),
      () => anyOf(owner)('POST', '/v1/policies', { name: 'one more' }),
    ])
    assert.deepEqual(outcomesOf(replies), ['201', '204', '204'])
  })
  const twice = 'select priority from policy group by tenant_id, priority having count(*) > 1'
  assert.deepEqual(await service.asSuperuser(twice), [])
})

test('rules created and reordered on two processes have distinct places (R9)', async () => {
  const policy = await made('/v1/policies', { name: 'a full one' })
  const path = `/v1/policies/${policy}/rules`
  const rules = await Promise.all([0, 1, 2].map(() => made(path, { effect: 'permit' })))
  await inParallel(rounds(8), 2, async () => {
    const replies = await together([
      () => owner[0]('POST', path, { effect: 'permit' }),
      () => owner[1]('POST', path, { effect: 'permit' }),
      () => anyOf(owner)('PATCH', `${path}/reorder`, { ids: shuffled(rules) }),
    ])
    assert.deepEqual(outcomesOf(replies), ['201', '201', '204'])
  })
  const all = 'select ordinal from policy_rule where policy_id = $1 order by ordinal'
  const ordinals = (await service.asSuperuser<{ ordinal: number }>(all, [policy])).map(({ ordinal }) => ordinal)
  assert.equal(new Set(ordinals).size, ordinals.length, ordinals.join())
  assert.equal(ordinals.length, rules.length + 2 * rounds(8).length)
})

/** Spellings of one address: by case, by compatibility, by letters that only look or fold alike. */
const spellings: ((number: number) => readonly [string, string])[] = [
  (n) => [`anna${n}@example.com`, `ANNA${n}@Example.COM`],
  (n) => [`straße${n}@example.com`, `STRASSE${n}@example.com`],
  (n) => [`ırmak${n}@example.com`, `irmak${n}@example.com`],
  (n) => [`İrmak${n}@example.com`, `IRMAK${n}@example.com`],
  (n) => [`ﬁona${n}@example.com`, `FIONA${n}@example.com`],
  (n) => [`jose\u0301${n}@example.com`, `JOSÉ${n}@example.com`],
]

test('a user created twice at once under two spellings exists once, and the other call gets a conflict (R10)', async () => {
  const counted = `select (select count(*)::integer from tenant_user) as users,
    (select count(*)::integer from event where type = 'user.created') as told`
  const [before] = await service.asSuperuser<{ users: number; told: number }>(counted)
  const races = rounds(30)
  await inParallel(races, 6, async (round) => {
    const pair = spellings[round % spellings.length]?.(round) ?? ['', '']
    const create = (side: 0 | 1) => () => {
      const user = { email: pair[side], name: 'Twice', roles: ['user'], auth_provider: 'oidc' }
      return owner[side]('POST', '/v1/users', user)
    }
    assert.deepEqual(outcomesOf(await together([create(0), create(1)])), ['201', '409 user_exists'], pair.join())
  })
  const [after] = await service.asSuperuser<{ users: number; told: number }>(counted)
  assert.ok(before && after)
  assert.deepEqual([after.users - before.users, after.told - before.told], [races.length, races.length])
})

test('a member added twice at once is counted once, and the other call gets a conflict (R11)', async () => {
  const people = await Promise.all(
    rounds(20).map((n) =>
      made('/v1/users', { email: `member-${n}@example.com`, name: 'M', roles: ['user'], auth_provider: 'oidc' }),
    ),
  )
  const group = await made('/v1/groups', { name: 'the group' })
  await inParallel(people, 6, async (user_id) => {
    const add = (side: 0 | 1) => () => owner[side]('POST', `/v1/groups/${group}/members`, { user_id })
    assert.deepEqual(outcomesOf(await together([add(0), add(1)])), ['201', '409 already_member'])
  })
  assert.equal((await owner[1]('GET', `/v1/groups/${group}`)).body.member_count, people.length)
})

test('a notification read twice at once keeps the first time (R11)', async () => {
  const [asker, reader] = await Promise.all([service.join('Ann', ['user']), service.join('Rea', ['approver'])])
  const policy = await made('/v1/policies', { name: 'ask' })
  await made(`/v1/policies/${policy}/rules`, { effect: 'permit' })
  const races = rounds(12)
  for (const n of races) {
    const resource = { type: 'cloud_account', id: String(200_000_000_000 + n) }
    const reply = await asker.at[0]('POST', '/v1/requests', { resource, action: 'ReadOnly', reason: 'a look' })
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
  }
  const list = () => reader.at[0]<{ data: { id: string }[] }>('GET', '/v1/users/me/notifications?limit=200')
  const data = await until('all are notified', async () => {
    const page = (await list()).body.data
    return page.length >= races.length && page
  })
  await inParallel(data, 4, async ({ id }) => {
    const read = (side: 0 | 1) => () => reader.at[side]('POST', `/v1/users/me/notifications/${id}/read`, {})
    const replies = await together([read(0), read(1), read(0)])
    assert.deepEqual(outcomesOf(replies), ['200', '200', '200'])
    const moments = new Set(replies.map(({ body }) => body.read_at))
    assert.equal(moments.size, 1, [...moments].join())
    await reader.at[1]('POST', '/v1/users/me/notifications/read-all', {})
    assert.ok(moments.has((await read(1)()).body.read_at))
  })
})

test('and neither process has logged an internal error', () => assert.deepEqual(service.faults(), []))
