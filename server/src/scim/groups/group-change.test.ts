import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { scimOutcome } from '../../../test/support/scim-fault.ts'
import { groupKind } from '../attribute.ts'
import { readPatch } from '../patch.ts'
import { groupChangeOf, groupContentOf, groupName, memberIds } from './group-change.ts'

const [a, b, c] = ['a', 'b', 'c'].map((letter) => `${letter.repeat(8)}-0000-4000-8000-000000000000`) as [
  string,
  string,
  string,
]
const named = (...ids: string[]) => ids.map((value) => ({ value }))
const change = (operations: unknown) =>
  scimOutcome(() => groupChangeOf(readPatch(groupKind, { Operations: operations })))

/** The change of the members, or the refusal. */
function members(operations: unknown): unknown {
  const read = change(operations)
  if (typeof read === 'string') return read
  const { all, added, removed } = read.members
  return [all ? 'all' : 'some', added, removed]
}

suite('a change of members', () => {
  const cases: [string, unknown[], unknown][] = [
    ['Entra ID adds some', [{ op: 'Add', path: 'members', value: named(a, b) }], ['some', [a, b], []]],
    ['Okta removes one by a filter', [{ op: 'remove', path: `members[value eq "${a}"]` }], ['some', [], [a]]],
    [
      'Entra ID removes one by a list',
      [{ op: 'Remove', path: 'members', value: [{ $ref: null, value: a }] }],
      ['some', [], [a]],
    ],
    ['Okta replaces all', [{ op: 'replace', path: 'members', value: named(a) }], ['all', [a], []]],
    ['all, without a path', [{ op: 'replace', value: { members: named(a), id: 'x' } }], ['all', [a], []]],
    ['one that is no list', [{ op: 'add', path: 'members', value: { value: a } }], ['some', [a], []]],
    ['bare ids', [{ op: 'add', path: 'members', value: [a, b] }], ['some', [a, b], []]],
    ['one twice', [{ op: 'add', path: 'members', value: named(a, a, a.toUpperCase()) }], ['some', [a], []]],
    [
      'by the URI of the schema',
      [{ op: 'add', path: `${groupKind.schema}:members`, value: named(a) }],
      ['some', [a], []],
    ],
    ['all go', [{ op: 'remove', path: 'members' }], ['all', [], []]],
    ['all go, with null', [{ op: 'remove', path: 'members', value: null }], ['all', [], []]],
    ['all go by an empty list', [{ op: 'replace', path: 'members', value: [] }], ['all', [], []]],
    ['none goes by an empty list', [{ op: 'remove', path: 'members', value: [] }], ['some', [], []]],
    ['none comes by null', [{ op: 'add', path: 'members', value: null }], ['some', [], []]],
    [
      'several by a filter',
      [{ op: 'remove', path: `members[value eq "${a}" or value eq "${b}"]` }],
      ['some', [], [a, b]],
    ],
    ['one for another', [{ op: 'replace', path: `members[value eq "${a}"]`, value: { value: b } }], ['some', [b], [a]]],
    // Of several operations, the last word counts.
    [
      'added and removed',
      [
        { op: 'add', path: 'members', value: named(a, b) },
        { op: 'remove', path: `members[value eq "${a.toUpperCase()}"]` },
      ],
      ['some', [b], [a]],
    ],
    [
      'removed and added',
      [
        { op: 'remove', path: 'members', value: named(a) },
        { op: 'add', path: 'members', value: named(a.toUpperCase()) },
      ],
      ['some', [a], []],
    ],
    [
      'replaced, then one more and one less',
      [
        { op: 'replace', path: 'members', value: named(a, b) },
        { op: 'add', path: 'members', value: named(c) },
        { op: 'remove', path: 'members', value: named(a) },
      ],
      ['all', [b, c], []],
    ],
    [
      'emptied, then one more',
      [
        { op: 'remove', path: 'members' },
        { op: 'add', path: 'members', value: named(c) },
      ],
      ['all', [c], []],
    ],
    [
      'added, then replaced',
      [
        { op: 'add', path: 'members', value: named(a) },
        { op: 'replace', path: 'members', value: named(b) },
      ],
      ['all', [b], []],
    ],
    // Refusals.
    ['a group', [{ op: 'add', path: 'members', value: [{ value: a, type: 'Group' }] }], '400 invalidValue'],
    [
      'a group, in whatever case',
      [{ op: 'replace', path: 'members', value: [{ value: a, type: 'GROUP' }] }],
      '400 invalidValue',
    ],
    ['by another filter', [{ op: 'remove', path: 'members[value sw "a"]' }], '400 invalidPath'],
    ['by what is not so', [{ op: 'remove', path: `members[not (value eq "${a}")]` }], '400 invalidPath'],
    ['by a kind', [{ op: 'remove', path: 'members[type eq "User"]' }], '400 invalidPath'],
    ['by two ids at once', [{ op: 'remove', path: `members[value eq "${a}" and value eq "${b}"]` }], '400 invalidPath'],
    ['by an unknown part', [{ op: 'remove', path: 'members[nope eq "x"]' }], '400 invalidFilter'],
    ['a part of one', [{ op: 'replace', path: `members[value eq "${a}"].value`, value: b }], '400 mutability'],
    ['a part of each', [{ op: 'remove', path: 'members.value' }], '400 mutability'],
    ['no value', [{ op: 'replace', path: 'members' }], '400 invalidValue'],
  ]
  for (const [what, operations, result] of cases) test(what, () => assert.deepEqual(members(operations), result))

  test('of thousands of operations is counted in one step for each (I2)', () => {
    const ids = Array.from(
      { length: 5_000 },
      (_, n) => `${n.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`,
    )
    const operations = [
      { op: 'remove', path: 'members', value: named(...ids) },
      ...ids.slice(1).map((value) => ({ op: 'add', path: 'members', value: [{ value }] })),
    ]
    assert.deepEqual(members(operations), ['some', ids.slice(1), ids.slice(0, 1)])
  })
})

suite('a change of a group', () => {
  const none = { members: { all: false, added: [], removed: [] } }
  const cases: [string, unknown[], unknown][] = [
    ['of the name', [{ op: 'replace', path: 'displayName', value: 'Ops' }], { ...none, display_name: 'Ops' }],
    [
      'of the name, as Okta sends it',
      [{ op: 'replace', value: { id: 'x', displayName: 'Ops' } }],
      { ...none, display_name: 'Ops' },
    ],
    ['of the external id', [{ op: 'Add', path: 'externalId', value: 'X' }], { ...none, external_id: 'X' }],
    ['that has no external id any more', [{ op: 'remove', path: 'externalId' }], { ...none, external_id: null }],
    [
      'of what can only be read',
      [
        { op: 'replace', path: 'id', value: 'x' },
        { op: 'add', path: 'meta', value: {} },
      ],
      none,
    ],
    ['of what gives rights', [{ op: 'add', value: { roles: ['admin'], entitlements: ['x'], schemas: ['x'] } }], none],
    ['without a name', [{ op: 'remove', path: 'displayName' }], '400 invalidValue'],
    ['with a name that is null', [{ op: 'replace', path: 'displayName', value: null }], '400 invalidValue'],
    ['with a name that nobody sees', [{ op: 'replace', path: 'displayName', value: '\u200b ' }], '400 invalidValue'],
    ['of what users have', [{ op: 'replace', path: 'userName', value: 'x' }], '400 invalidPath'],
    ['of scopes', [{ op: 'replace', value: { scopes: ['x'] } }], '400 invalidPath'],
  ]
  for (const [what, operations, result] of cases) test(what, () => assert.deepEqual(change(operations), result))
})

test('a group has a name, and perhaps an external id', () => {
  assert.deepEqual(groupContentOf({ displayName: 'Ops' }), { display_name: 'Ops', external_id: null })
  assert.deepEqual(groupContentOf({ displayName: 'Ops', externalId: 'X' }), { display_name: 'Ops', external_id: 'X' })
  for (const displayName of [undefined, '\u200b', ' ']) {
    assert.equal(
      scimOutcome(() => groupContentOf({ displayName })),
      '400 invalidValue',
    )
  }
})

test('a name is shown on one line, and cut', () => {
  assert.equal(groupName('O\u202eps\n1'), 'Ops 1')
  assert.equal(groupName('x'.repeat(300)), 'x'.repeat(200))
})

test('the ids of members are read from anything', () => {
  assert.deepEqual(memberIds(undefined), [])
  assert.deepEqual(memberIds([{ display: 'x' }, { value: a.toUpperCase() }, null, 7]), ['', a])
})
