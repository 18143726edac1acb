import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { enterpriseSchema } from '../../src/scim/attribute.ts'
import { type Comparison, comparisons, type ParsedFilter, parseFilter } from '../../src/scim/filter-grammar.ts'
import { fc } from '../support/chance.ts'
import { rounds } from '../support/race.ts'
import { finds } from '../support/scim-model.ts'
import { openScimStage } from '../support/scim-stage.ts'

/** What SQL finds for a filter, against a plain model over the documents that the service answers with. */
const { directory } = await openScimStage()
const { call } = directory

/** Few letters, so that texts have much in common; some are wild cards, escapes and words of SQL. */
const letters = [...'aAb', 'é', 'e\u0301', '%', '_', '\\', "'", '"', ' ', '\u{1f600}', '\uffee']
const text = fc
  .string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 3 })
  .filter((one) => one.trim() !== '')
const kinds = ['work', 'Work', 'home']
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const type = maybe(fc.constantFrom(...kinds))

const user = fc.record({
  title: maybe(text),
  nickName: maybe(text),
  externalId: maybe(text),
  active: maybe(fc.boolean()),
  name: maybe(fc.record({ givenName: maybe(text), familyName: maybe(text) })),
  phoneNumbers: fc.array(fc.record({ value: text, type, primary: maybe(fc.boolean()) }), { maxLength: 3 }),
  addresses: fc.array(fc.record({ country: maybe(text), type }), { maxLength: 2 }),
  [enterpriseSchema]: fc.record({ department: maybe(text), manager: maybe(fc.record({ value: text })) }),
})

let users: Record<string, unknown>[]
let groups: Record<string, unknown>[]

before(async () => {
  const [samples, titles] = [fc.sample(user, { numRuns: 60, seed: 1 }), fc.sample(text, { numRuns: 12, seed: 2 })]
  for (const [n, sample] of samples.entries()) {
    const externalId = sample.externalId === undefined ? undefined : `${sample.externalId}${n}`
    await directory.user({ ...sample, externalId, userName: `${kinds[n % 3]}${n}@x.example` })
  }
  users = await all('Users', '')
  for (const [n, title] of titles.entries()) {
    const members = users.filter((_, place) => place % (n + 1) === 1).map(({ id }) => ({ value: id }))
    const made = await call('POST', '/Groups', {
      displayName: `${title}${n}`,
      members,
      ...(n % 3 === 0 && { externalId: `${title}${n}` }),
    })
    assert.equal(made.status, 201, made.text)
  }
  groups = await all('Groups', '')
})

async function all(kind: string, filter: string): Promise<Record<string, unknown>[]> {
  const body = { count: 200, ...(filter !== '' && { filter }) }
  const reply = await call('POST', `/${kind}/.search`, body)
  assert.equal(reply.status, 200, `${filter}\n${reply.text}`)
  return reply.body.Resources as Record<string, unknown>[]
}

async function requireSame(kind: 'Users' | 'Groups', filter: string): Promise<void> {
  const parsed = parseFilter(filter)
  const expected = (kind === 'Users' ? users : groups).filter((one) => finds(parsed, one)).map(({ id }) => id)
  assert.deepEqual(
    (await all(kind, filter)).map(({ id }) => id),
    expected,
    filter,
  )
}

const written = (value: ParsedFilter & { op: Comparison }) => JSON.stringify(value.value)

/** A random tree as the text of a filter. */
function spelled(filter: ParsedFilter): string {
  if (filter.op === 'and' || filter.op === 'or') return `(${filter.filters.map(spelled).join(` ${filter.op} `)})`
  if (filter.op === 'not') return `not (${spelled(filter.filter)})`
  if (filter.op === 'of') return `${filter.path}[${spelled(filter.filter)}]`
  return filter.op === 'pr' ? `${filter.path} pr` : `${filter.path} ${filter.op} ${written(filter)}`
}

/** Comparisons with one of these paths; `values`: what is compared with. */
function leaf(
  paths: readonly string[],
  values: fc.Arbitrary<string | boolean | null>,
  ops: readonly Comparison[] = comparisons,
) {
  const path = fc.constantFrom(...paths)
  return fc.oneof(
    fc.record({ op: fc.constant('pr' as const), path }),
    fc.record({ op: fc.constantFrom(...ops), path, value: values }),
  ) as fc.Arbitrary<ParsedFilter>
}

const tree = (leaves: fc.Arbitrary<ParsedFilter>, depth: number): fc.Arbitrary<ParsedFilter> => {
  if (depth === 0) return leaves
  const part = fc.oneof(leaves, tree(leaves, depth - 1))
  return fc.oneof(
    leaves,
    fc.record({ op: fc.constant('not' as const), filter: part }),
    fc.record({ op: fc.constant('and' as const), filters: fc.array(part, { minLength: 2, maxLength: 3 }) }),
    fc.record({ op: fc.constant('or' as const), filters: fc.array(part, { minLength: 2, maxLength: 3 }) }),
  ) as fc.Arbitrary<ParsedFilter>
}

const of = (path: string, filter: fc.Arbitrary<ParsedFilter>) =>
  fc.record({ op: fc.constant('of' as const), path: fc.constant(path), filter }) as fc.Arbitrary<ParsedFilter>
const eqOrNe = ['eq', 'ne'] as const
const nothing = (path: string, ops: readonly Comparison[] = eqOrNe) => leaf([path], fc.constant(null), ops)

const ofUsers = fc.oneof(
  leaf(['title', 'nickName', 'externalId', 'name.givenName', 'name.familyName', 'department', 'manager.value'], text),
  leaf(
    ['userName', 'emails.value', 'emails'],
    fc.oneof(text, fc.constantFrom('work1@x.example', 'WORK', 'e', '.example')),
  ),
  leaf(['phoneNumbers.value', 'phoneNumbers', 'addresses.country', 'manager'], text),
  leaf(['phoneNumbers.type', 'addresses.type'], fc.constantFrom(...kinds, 'wor')),
  leaf(['active', 'phoneNumbers.primary'], fc.boolean(), eqOrNe),
  leaf(['meta.resourceType'], fc.constantFrom('User', 'user', 'Group')),
  nothing('title'),
  nothing('phoneNumbers.type'),
  of(
    'phoneNumbers',
    tree(
      fc.oneof(
        leaf(['value'], text),
        leaf(['type'], fc.constantFrom(...kinds)),
        leaf(['primary'], fc.boolean(), eqOrNe),
        nothing('type'),
      ),
      2,
    ),
  ),
  of('addresses', tree(fc.oneof(leaf(['country'], text), leaf(['type'], fc.constantFrom(...kinds))), 1)),
)

test('any filter of users finds those whom a model finds', async () => {
  const property = fc.asyncProperty(tree(ofUsers, 2), (filter) => {
    const asText = spelled(filter)
    fc.pre(asText.length <= 2_000)
    return requireSame('Users', asText)
  })
  await fc.assert(property, { numRuns: rounds(300).length })
})

test('any filter of groups finds those that a model finds', async () => {
  const ids = fc.nat(70).map((n) => String(users[n % users.length]?.id))
  const part = fc.oneof(ids, fc.constantFrom('0', 'a', '-7', 'ab'))
  const ofMembers = fc.oneof(leaf(['value'], part), leaf(['type'], fc.constantFrom('User', 'user', 'Group', 'us')))
  const ofGroups = fc.oneof(
    leaf(['displayName', 'externalId'], fc.oneof(text, fc.constantFrom('1', '3', 'a1'))),
    leaf(['members.value', 'members', 'members.type'], part),
    leaf(['id'], part),
    of('members', tree(ofMembers, 2)),
    nothing('externalId'),
  )
  const property = fc.asyncProperty(tree(ofGroups, 2), (filter) => requireSame('Groups', spelled(filter)))
  await fc.assert(property, { numRuns: rounds(300).length })
})

suite('each comparison of users', () => {
  for (const path of ['title', 'phoneNumbers.value', 'userName', 'department', 'externalId']) {
    for (const op of comparisons) {
      test(`${path} ${op}, with every value that somebody has`, async () => {
        const values = ['a', 'A', 'é', '%', '_', '\\', "'", '\u{1f600}', '\uffee', 'zz', '']
        for (const value of values) await requireSame('Users', `${path} ${op} ${JSON.stringify(value)}`)
      })
    }
  }
})

test('filters by id and by moments find what they say', async () => {
  const [first, third] = [users[0], users[2]] as [Record<string, unknown>, Record<string, unknown>]
  const id = String(third.id)
  const { created } = third.meta as { created: string }
  const later = new Date(Date.parse(created) + 1).toISOString()
  for (const [filter, found] of [
    [`id eq "${id}"`, [id]],
    [`id eq "${id.toUpperCase()}"`, [id]],
    [`id sw "${id}"`, [id]],
    ['id eq "nope"', []],
    [`id eq "${id}" and title pr and title ne null`, third.title === undefined ? [] : [id]],
    [`meta.created eq "${created}"`, [id]],
    [`meta.created ge "${created}" and meta.created lt "${later}"`, [id]],
    [`meta.created lt "${created}" and id eq "${first.id}"`, [first.id]],
    [`meta.created gt "${created.replace('Z', '+00:00')}" and id eq "${first.id}"`, []],
    ['meta.lastModified lt "2000-01-01T00:00:00Z"', []],
    ['meta.created lt "9999-12-31T23:59:59Z" and not (meta.created pr)', []],
  ] as const) {
    assert.deepEqual(
      (await all('Users', filter)).map((one) => one.id),
      found,
      filter,
    )
  }
  for (const filter of ['id ne "nope"', 'meta.created pr', 'id pr', 'meta.version pr', 'not (roles pr)']) {
    assert.equal((await all('Users', filter)).length, users.length, filter)
  }
})
