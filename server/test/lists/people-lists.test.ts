import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse } from '../support/house.ts'
import { callerOf, type ListedRow } from '../support/whole-list.ts'

/** The list of users: what each filter finds, alone and with others, and in which order. */
const house = await openHouse()
const ours = await house.tenant('people')
const { send, create, whole } = callerOf(house, ours)
const theirs = callerOf(house, await house.tenant('others'))

const keeper = await create('/v1/roles', { name: 'Keeper', scopes: ['cloud_accounts:read'] })
const group = await create('/v1/groups', { name: 'Team' })
const other = await create('/v1/groups', { name: 'Other team' })

/** Each third has the role, each fourth is a member, and some left or are suspended. */
const planned = Array.from({ length: 24 }, (_, n) => ({
  name: `${['Zoë', 'anna', 'Émile', 'Bo'][n % 4]} Person${n}`,
  email: `p${n}.${n % 2 === 0 ? 'even' : 'odd'}@example.com`,
  auth_provider: n % 6 === 1 ? 'saml' : 'oidc',
  ...{ has: n % 3 === 0, member: n % 4 === 0, active: n % 5 !== 2, suspended: n % 7 === 3 },
}))
type Person = (typeof planned)[number] & { id: string }
const people: Person[] = []
for (const person of planned) {
  const { name, email, auth_provider, has, member, active, suspended } = person
  const body = { name, email, auth_provider, roles: ['user'] }
  const id = await create('/v1/users', body)
  if (has) await send('PUT', `/v1/users/${id}/roles`, { roles: ['user', keeper] })
  for (const team of member ? [group, other] : []) await send('POST', `/v1/groups/${team}/members`, { user_id: id })
  if (suspended) await send('POST', `/v1/users/${id}/suspend`)
  if (!active) await send('PATCH', `/v1/users/${id}`, { active: false })
  await theirs.create('/v1/users', body)
  people.push({ ...person, id })
}
const ofProvider = { auth_provider: 'oidc', roles: ['user'] }
const gone = await create('/v1/users', { name: 'Gone Person99', email: 'gone@example.com', ...ofProvider })
await send('DELETE', `/v1/users/${gone}`)
const [{ moment = '' } = {}] = await house.asSuperuser<{ moment: string }>(
  `select to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as moment
    from tenant_user where id = $1`,
  [people[12]?.id],
)

const conditions: [string, (person: Person, index: number) => boolean][] = [
  [`role=${keeper}`, ({ has }) => has],
  [`role=${keeper},auditor`, ({ has }) => has],
  [`group=${group}`, ({ member }) => member],
  ['active=true', ({ active }) => active],
  ['active=false', ({ active }) => !active],
  ['suspended=true', ({ suspended }) => suspended],
  ['suspended=false', ({ suspended }) => !suspended],
  ['auth_provider=saml', ({ auth_provider }) => auth_provider === 'saml'],
  ['auth_provider=saml,oidc', () => true],
  [`created_after=${moment}`, (_person, index) => index >= 12],
  [`created_before=${moment}`, (_person, index) => index < 12],
  ['q=person', () => true],
  ['q=EVEN%20example', (_person, index) => index % 2 === 0],
]
/** Each condition alone, and with each of another parameter. */
const pairs = conditions.flatMap((one, index) =>
  conditions.slice(index).flatMap((two) => (one === two || keyOf(one) !== keyOf(two) ? [[one, two] as const] : [])),
)
function keyOf([query]: [string, unknown]): string {
  return query.split('=')[0] ?? ''
}

const accents = /[\u0300-\u036f]/g
const folded = ({ name }: Person) => name.normalize('NFKD').replaceAll(accents, '').toLowerCase()
const orders: Record<string, (a: Person, b: Person) => number> = {
  '': (a, b) => (a.id < b.id ? -1 : 1),
  'sort=-created_at': (a, b) => (a.id > b.id ? -1 : 1),
  'sort=name': (a, b) => (folded(a) < folded(b) ? -1 : 1),
  'sort=-name': (a, b) => (folded(a) > folded(b) ? -1 : 1),
}
const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)
const namesOf = (rows: readonly ListedRow[]) => rows.map(({ name }) => name)
const planning = new Set(idsOf(people))

for (const [sort, order] of Object.entries(orders)) {
  test(`each filter, alone and with others, finds exactly its users, ${sort || 'in the usual order'}`, async () => {
    for (const [[one, isOne], [two, isTwo]] of pairs) {
      const query = [...new Set([one, two, sort])].filter(Boolean).join('&')
      const expected = people.filter((person, index) => isOne(person, index) && isTwo(person, index)).sort(order)
      const found = idsOf(await whole(`/v1/users?${query}`)).filter((id) => planning.has(id))
      // A search has the order of the found word.
      if (query.includes('q=')) assert.deepEqual(found.sort(), idsOf(expected).sort(), query)
      else assert.deepEqual(found, idsOf(expected), query)
    }
  })
}

test('pages give each user once, in the order of the whole list', async () => {
  for (const query of [
    '',
    '?sort=name',
    '?sort=-created_at',
    `?group=${group}`,
    `?role=${keeper},user`,
    `?role=${keeper},user&active=true`,
    '?q=person',
    '?q=per%20ex',
  ]) {
    const inOrder = idsOf(await whole(`/v1/users${query}`))
    for (const limit of [1, 2, 5]) {
      assert.deepEqual(idsOf(await whole(`/v1/users${query}`, limit)), inOrder, `${query} by ${limit}`)
    }
    assert.equal(new Set(inOrder).size, inOrder.length)
  }
})

test('a user who is deleted is in no list, and has no words', async () => {
  for (const query of ['', '?q=gone', '?sort=name', '?active=false']) {
    assert.equal(
      (await whole(`/v1/users${query}`)).some(({ id }) => id === gone),
      false,
      query,
    )
  }
  assert.deepEqual(await house.asSuperuser('select from user_word where user_id = $1', [gone]), [])
})

test('a search takes beginnings of words in any case, with or without accents, and the whole address', async () => {
  const found = async (q: string) => namesOf(await whole(`/v1/users?q=${encodeURIComponent(q)}`))
  assert.deepEqual(await found('EMILE person2'), ['Émile Person2', 'Émile Person22'])
  assert.deepEqual(await found('zoë person0'), ['Zoë Person0'])
  assert.deepEqual(await found('p7.odd@example.com'), ['Bo Person7'])
  assert.deepEqual([await found('erson'), await found('%'), await found('person zzz')], [[], [], []])
})

test('a new name is found, and the former one is not', async () => {
  const [{ id = '' } = {}] = people
  await send('PATCH', `/v1/users/${id}`, { name: 'Quentin Renamed' })
  assert.deepEqual(namesOf(await whole('/v1/users?q=quentin')), ['Quentin Renamed'])
  assert.deepEqual(namesOf(await whole('/v1/users?q=person0')), [])
  const sorted = namesOf(await whole('/v1/users?sort=name'))
  assert.equal(sorted.indexOf('Quentin Renamed') > sorted.indexOf('Bo Person3'), true)
  await send('PATCH', `/v1/users/${id}`, { name: people[0]?.name })
})

test('a search goes on in the same order when other words became rarer meanwhile', async () => {
  const q = '/v1/users?q=rare%20person'
  for (const n of [1, 2, 3]) {
    await create('/v1/users', { name: `Rare${n} Person`, email: `rare${n}@example.net`, ...ofProvider })
  }
  const first = await send('GET', `${q}&limit=1`)
  // Now fewer rows have the other word.
  await house.asSuperuser(
    `insert into user_word (tenant_id, user_id, word) select tenant_id, id, 'rare' || n
        from tenant_user, generate_series(10, 60) n
      where tenant_id = $1 and deleted_at is null`,
    [ours.tenant_id],
  )
  const second = await send('GET', `${q}&cursor=${first.body.next_cursor}`)
  const names = [first, second].flatMap(({ body }) => (body.data as ListedRow[]).map(({ name }) => name))
  assert.deepEqual(
    names.filter((name) => name.startsWith('Rare')),
    ['Rare1 Person', 'Rare2 Person', 'Rare3 Person'],
  )
  await house.asSuperuser(`delete from user_word where word ~ '^rare[0-9]{2}$'`)
})

test('faulty filters are refused', async () => {
  for (const query of [
    'sort=email',
    'active=maybe',
    'group=x',
    'auth_provider=ldap',
    'created_after=soon',
    'role=',
    'q=',
  ]) {
    assert.equal((await send('GET', `/v1/users?${query}`)).status, 400, query)
  }
})
