import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { scimOutcome } from '../../test/support/scim-fault.ts'
import { enterpriseSchema, groupKind, userKind } from './attribute.ts'
import { maxValueLength, type Resource, readResource } from './read-resource.ts'

const read = (sent: unknown, kind = userKind) => scimOutcome(() => readResource(kind, sent))

suite('a resource as it is kept', () => {
  const cases: [string, unknown, Resource][] = [
    [
      'has its names as they are in the schema',
      { USERNAME: 'ada', Name: { GIVENNAME: 'Ada' } },
      { userName: 'ada', name: { givenName: 'Ada' } },
    ],
    ['keeps the case of values', { userName: 'Ada', externalId: 'AbC' }, { userName: 'Ada', externalId: 'AbC' }],
    ['is without what is not assigned', { title: null, nickName: '', emails: [], name: {}, locale: [] }, {}],
    ['is without what its parts do not assign', { name: { givenName: null }, emails: [{}, { value: '' }, null] }, {}],
    ['reads truths as texts', { active: 'False' }, { active: false }],
    ['reads truths as texts, with spaces', { active: ' TRUE ' }, { active: true }],
    [
      'reads numbers as texts',
      { title: 7, [enterpriseSchema]: { employeeNumber: 701984 } },
      { title: '7', [enterpriseSchema]: { employeeNumber: '701984' } },
    ],
    ['reads a list of one', { userName: ['ada'], active: [true] }, { userName: 'ada', active: true }],
    ['reads one value for a list', { emails: { value: 'a@b.example' } }, { emails: [{ value: 'a@b.example' }] }],
    [
      'reads a bare text for a value',
      { emails: ['a@b.example'], phoneNumbers: '1' },
      { emails: [{ value: 'a@b.example' }], phoneNumbers: [{ value: '1' }] },
    ],
    [
      'reads the manager as a text',
      { [enterpriseSchema]: { manager: 'm' } },
      { [enterpriseSchema]: { manager: { value: 'm' } } },
    ],
    [
      'reads the manager as a list of one',
      { [enterpriseSchema]: { manager: [{ value: 'm', $ref: 'x', displayName: 'M' }] } },
      { [enterpriseSchema]: { manager: { value: 'm' } } },
    ],
    [
      'reads the extension under its URI in whatever case',
      { [enterpriseSchema.toUpperCase()]: { DEPARTMENT: 'Ops' } },
      { [enterpriseSchema]: { department: 'Ops' } },
    ],
    ['is without an empty extension', { [enterpriseSchema]: { department: null } }, {}],
    ['has no extension of another schema', { 'urn:acme:1.0:User': { badge: 'x' } }, {}],
    [
      'has one value once',
      { emails: [{ value: 'a@b.example' }, { value: 'a@b.example' }] },
      { emails: [{ value: 'a@b.example' }] },
    ],
    [
      'has one value once for each kind',
      {
        emails: [
          { value: 'a', type: 'work' },
          { value: 'a', type: 'home' },
          { value: 'a', type: 'work', display: 'A' },
        ],
      },
      {
        emails: [
          { value: 'a', type: 'home' },
          { value: 'a', type: 'work', display: 'A' },
        ],
      },
    ],
    [
      'has one primary value, the last',
      { emails: [{ value: 'a', primary: true }, { value: 'b', primary: 'True' }, { value: 'c' }] },
      { emails: [{ value: 'a', primary: false }, { value: 'b', primary: true }, { value: 'c' }] },
    ],
    [
      'has no entry without a value',
      { phoneNumbers: [{ type: 'work' }, { value: '1', type: 'home' }] },
      { phoneNumbers: [{ value: '1', type: 'home' }] },
    ],
    [
      'has addresses, which have no value',
      { addresses: [{ type: 'work', country: 'DE' }] },
      { addresses: [{ type: 'work', country: 'DE' }] },
    ],
    // Mass assignment: what gives rights, and what this service decides.
    [
      'is without what gives rights (P10)',
      {
        ...{
          id: 'x',
          meta: { version: 'x' },
          schemas: ['x'],
          password: 'x',
          roles: [{ value: 'admin' }],
          entitlements: ['x'],
          groups: ['x'],
        },
        ...{
          is_owner: true,
          scopes: ['x'],
          auth_provider: 'local',
          tenant_id: 'x',
          deleted_at: null,
          email_verified: true,
        },
      },
      {},
    ],
    [
      'is without names of JavaScript (I4)',
      JSON.parse('{"__proto__": {"active": false}, "constructor": "x", "toString": "x"}'),
      {},
    ],
    ['has no attributes that are inherited', Object.create({ title: 'x' }), {}],
  ]
  for (const [what, sent, kept] of cases) test(what, () => assert.deepEqual(read(sent), kept))

  test('of a group has its members, and nothing of users', () => {
    const sent = {
      DisplayName: 'Ops',
      Members: [{ value: 'a', display: 'A', type: 'User' }, 'b', { $ref: null, value: 'c' }],
      userName: 'x',
    }
    const kept = { displayName: 'Ops', members: [{ value: 'a', type: 'User' }, { value: 'b' }, { value: 'c' }] }
    assert.deepEqual(read(sent, groupKind), kept)
  })
})

suite('a resource is refused', () => {
  const cases: [string, unknown, string][] = [
    ...[undefined, null, [], 'x', 1].map((body): [string, unknown, string] => [
      `that is ${JSON.stringify(body)}`,
      body,
      '400 invalidSyntax',
    ]),
    ['with one name twice', { userName: 'a', USERNAME: 'b' }, '400 invalidSyntax'],
    ['with a name of a part twice', { name: { givenName: 'a', givenname: 'b' } }, '400 invalidSyntax'],
    ['with an object for a text', { userName: { a: 1 } }, '400 invalidValue'],
    ['with several texts for one', { userName: ['a', 'b'] }, '400 invalidValue'],
    ['with a text for an object', { name: 'Ada' }, '400 invalidValue'],
    ['with a list of several for an object', { name: [{ givenName: 'a' }, { givenName: 'b' }] }, '400 invalidValue'],
    ['with a number in a list of objects', { emails: [7] }, '400 invalidValue'],
    ['with a list in a list', { emails: [['a']] }, '400 invalidValue'],
    ['with an extension that is no object', { [enterpriseSchema]: 'x' }, '400 invalidValue'],
    ...['yes', '1', 'on', 'truely'].map((active): [string, unknown, string] => [
      `with the truth ${active}`,
      { active },
      '400 invalidValue',
    ]),
    ['with the truth 1', { active: 1 }, '400 invalidValue'],
    ['with too many values', { emails: Array.from({ length: 101 }, (_, n) => `a${n}@b.example`) }, '400 invalidValue'],
  ]
  for (const [what, sent, refusal] of cases) test(what, () => assert.equal(read(sent), refusal))

  test('with a text that is longer than an index holds, as it is searched', () => {
    const full = (character: string) => character.repeat(maxValueLength / character.length)
    for (const character of ['x', 'é', '語', '\u{1f600}', 'İ', 'Ⱥ']) {
      assert.deepEqual(read({ title: full(character) }), { title: full(character) })
      assert.equal(read({ title: `${full(character)}x` }), '400 invalidValue')
    }
    // Three characters each, once they are compared.
    for (const character of ['\ufb2c', '\u{1d160}'])
      assert.equal(read({ userName: full(character) }), '400 invalidValue')
  })
})

test('a user of whom too much is said is refused', () => {
  const addresses = Array.from({ length: 100 }, (_, place) => ({
    formatted: `${place}${'x'.repeat(590)}`,
    region: 'y'.repeat(600),
  }))
  assert.equal(
    scimOutcome(() => readResource(userKind, { userName: 'ada', addresses })),
    '400 invalidValue',
  )
})
