import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { enterpriseSchema } from '../../src/scim/attribute.ts'
import { openScimStage, type ScimReply } from '../support/scim-stage.ts'

const { directory, makeDirectory } = await openScimStage()
const { call } = directory

type Page = { totalResults: number; startIndex: number; itemsPerPage: number; Resources: Record<string, unknown>[] }
const pageOf = ({ status, body, text }: ScimReply) => {
  assert.equal(status, 200, text)
  assert.deepEqual(body.schemas, ['urn:ietf:params:scim:api:messages:2.0:ListResponse'])
  // The tests read the page's parts: a part that is absent fails them.
  return body as unknown as Page
}
const list = async (query: string, kind = 'Users') => pageOf(await call('GET', `/${kind}${query}`))
const search = async (body: object, kind = '/Users') => pageOf(await call('POST', `${kind}/.search`, body))
const namesOf = ({ Resources }: Page) => Resources.map(({ userName, displayName }) => userName ?? displayName)

/** In the order in which they are made: names, titles and addresses are in other orders. */
const people = [
  {
    userName: 'cleo@x.example',
    title: 'B',
    name: { familyName: 'Young' },
    emails: [{ value: 'c1@x.example' }, { value: 'a@x.example', primary: true }],
  },
  {
    userName: 'Ben@x.example',
    title: 'a',
    name: { familyName: 'aye' },
    emails: [{ value: 'z@x.example' }, { value: 'b@x.example' }],
  },
  { userName: 'ada@x.example', title: 'C', externalId: 'E1', emails: [{ value: 'm@x.example' }] },
  { userName: 'eve@x.example', active: false },
  { userName: 'dan@x.example', [enterpriseSchema]: { department: 'Ops' } },
]
const inOrder = people.map(({ userName }) => userName)

before(async () => {
  const ids: string[] = []
  for (const person of people) ids.push((await directory.user(person)).id)
  for (const name of ['Ops', 'desk', 'Board']) await directory.group(name, ids.slice(0, name.length))
  // Those of another directory are in no list.
  const other = await makeDirectory()
  await other.user({ userName: 'other@x.example' })
  await other.group('Others')
})

suite('a list', () => {
  test('has everybody in the order in which they were made', async () => {
    const page = await list('')
    assert.deepEqual([page.totalResults, page.startIndex, page.itemsPerPage], [5, 1, 5])
    assert.deepEqual(namesOf(page), inOrder)
    assert.deepEqual(namesOf(await list('', 'Groups')), ['Ops', 'desk', 'Board'])
  })

  const pages: [string, number, string[]][] = [
    ['?startIndex=2&count=2', 2, inOrder.slice(1, 3)],
    ['?startIndex=5', 5, inOrder.slice(4)],
    ['?startIndex=6', 6, []],
    ['?startIndex=1000', 1_000, []],
    ['?startIndex=0&count=1', 1, inOrder.slice(0, 1)],
    ['?startIndex=-3&count=1', 1, inOrder.slice(0, 1)],
    ['?count=0', 1, []],
    ['?count=-1', 1, []],
    ['?count=1000', 1, inOrder],
  ]
  for (const [query, startIndex, names] of pages) {
    test(`of ${query} says how many there are in all`, async () => {
      const page = await list(query)
      assert.deepEqual([page.totalResults, page.startIndex, page.itemsPerPage], [5, startIndex, names.length])
      assert.deepEqual(namesOf(page), names)
    })
  }

  test('page by page has everybody once', async () => {
    const names: unknown[] = []
    for (let start = 1; start <= 5; start += 2) names.push(...namesOf(await list(`?startIndex=${start}&count=2`)))
    assert.deepEqual(names, inOrder)
  })

  test('counts what the filter finds', async () => {
    const page = await list('?count=1&filter=title%20pr')
    assert.deepEqual([page.totalResults, namesOf(page)], [3, ['cleo@x.example']])
  })

  const [cleo, ben, ada, eve, dan] = inOrder
  const orders: [string, unknown[]][] = [
    ['sortBy=userName', [ada, ben, cleo, dan, eve]],
    ['sortBy=userName&sortOrder=descending', [eve, dan, cleo, ben, ada]],
    ['sortBy=USERNAME&sortOrder=Descending', [eve, dan, cleo, ben, ada]],
    // Who has no value comes last, in either order.
    ['sortBy=title', [ben, cleo, ada, eve, dan]],
    ['sortBy=title&sortOrder=descending', [ada, cleo, ben, eve, dan]],
    ['sortBy=name.familyName', [ben, cleo, ada, eve, dan]],
    // The primary address, else the first.
    ['sortBy=emails.value', [cleo, ada, ben, eve, dan]],
    ['sortBy=emails&sortOrder=descending', [ben, ada, cleo, eve, dan]],
    ['sortBy=active', [eve, cleo, ben, ada, dan]],
    [`sortBy=${enterpriseSchema}:department`, [dan, cleo, ben, ada, eve]],
    ['sortBy=meta.created&sortOrder=descending', inOrder.toReversed()],
    ['sortBy=meta.lastModified', inOrder],
    ['sortBy=id&sortOrder=descending', inOrder.toReversed()],
    ['sortBy=nope', inOrder],
    ['sortBy=roles&sortOrder=descending', inOrder],
  ]
  for (const [query, names] of orders) {
    test(`is sorted by ${query}`, async () => assert.deepEqual(namesOf(await list(`?${query}`)), names))
  }

  test('of groups is sorted by their names, and by when they were made', async () => {
    for (const [query, names] of [
      ['sortBy=displayName', ['Board', 'desk', 'Ops']],
      ['sortBy=displayName&sortOrder=descending', ['Ops', 'desk', 'Board']],
      ['sortBy=meta.created&sortOrder=descending', ['Board', 'desk', 'Ops']],
      ['sortBy=externalId', ['Ops', 'desk', 'Board']],
      ['sortBy=members', ['Ops', 'desk', 'Board']],
    ] as const) {
      assert.deepEqual(namesOf(await list(`?${query}`, 'Groups')), names, query)
    }
  })

  test('shows what is asked for', async () => {
    const { Resources } = await list('?attributes=userName&count=1')
    assert.deepEqual(Object.keys(Resources[0] ?? {}).toSorted(), ['id', 'schemas', 'userName'])
    const without = await list('?excludedAttributes=members', 'Groups')
    assert.ok(without.Resources.every((group) => !('members' in group)))
    const { Resources: groups } = await list('?attributes=members.value', 'Groups')
    assert.deepEqual(
      groups.map(({ members }) => (members as object[]).length),
      [3, 4, 5],
    )
  })
})

suite('a search', () => {
  test('is a list by a body', async () => {
    const page = await search({
      filter: 'title pr',
      sortBy: 'title',
      startIndex: 2,
      count: 1,
      attributes: ['userName'],
    })
    assert.deepEqual([page.totalResults, page.startIndex, namesOf(page)], [3, 2, ['cleo@x.example']])
    assert.deepEqual(namesOf(await search({ filter: 'displayName sw "b"' }, '/Groups')), ['Board'])
    assert.equal((await search({})).totalResults, 5)
  })

  test('of all finds users, and then groups', async () => {
    assert.deepEqual(namesOf(await search({}, '')), [...inOrder, 'Ops', 'desk', 'Board'])
    const names: unknown[] = []
    for (let startIndex = 1; startIndex <= 8; startIndex += 3) {
      const page = await search({ startIndex, count: 3 }, '')
      assert.deepEqual([page.totalResults, page.startIndex], [8, startIndex])
      names.push(...namesOf(page))
    }
    assert.deepEqual(names, [...inOrder, 'Ops', 'desk', 'Board'])
  })

  test('of all finds the kind that has the attribute', async () => {
    for (const [filter, names] of [
      ['userName sw "ada"', ['ada@x.example']],
      ['members pr', ['Ops', 'desk', 'Board']],
      ['displayName eq "DESK"', ['desk']],
      ['meta.resourceType eq "Group"', ['Ops', 'desk', 'Board']],
      ['(meta.resourceType eq "User") and (userName co "e@")', ['eve@x.example']],
    ] as const) {
      assert.deepEqual(namesOf(await search({ filter }, '')), names, filter)
    }
  })
})
