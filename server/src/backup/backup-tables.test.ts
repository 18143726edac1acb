import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { orderByReference } from './backup-tables.ts'
import { requireKnown } from './restore.ts'

suite('tables are written after those that they refer to', () => {
  const orders: [string, Record<string, string[]>, string[]][] = [
    ['none refers to another', { a: [], b: [] }, ['a', 'b']],
    ['a chain', { a: ['b'], b: ['c'], c: [] }, ['c', 'b', 'a']],
    ['two that share one', { a: ['c'], b: ['c'], c: [] }, ['c', 'a', 'b']],
    ['one that refers to a table outside the list', { a: ['elsewhere'] }, ['a']],
    ['one whose rows refer to each other', { a: ['a', 'b'], b: [] }, ['b', 'a']],
  ]
  for (const [name, references, expected] of orders) {
    test(name, () => {
      const tables = Object.entries(references).map(([name, refers_to]) => ({ name, refers_to }))
      assert.deepEqual(
        orderByReference(tables).map((table) => table.name),
        expected,
      )
    })
  }

  const circles: [string, Record<string, string[]>][] = [
    ['two that refer to each other', { a: ['b'], b: ['a'] }],
    ['three in a circle', { a: ['b'], b: ['c'], c: ['a'] }],
  ]
  for (const [name, references] of circles) {
    test(`but not ${name}`, () => {
      const tables = Object.entries(references).map(([name, refers_to]) => ({ name, refers_to }))
      assert.throws(() => orderByReference(tables), /form a cycle/)
    })
  }
})

suite('the migrations of a backup', () => {
  const known = [
    { name: '0001_a', checksum: 'a' },
    { name: '0002_b', checksum: 'b' },
    { name: '0003_c', checksum: 'c' },
  ]

  test('may end before ours', () => assert.equal(requireKnown(known.slice(0, 2), known), '0002_b'))
  test('may be the same', () => assert.equal(requireKnown(known, known), '0003_c'))

  const refused: [string, { name: string; checksum: string }[], RegExp][] = [
    ['may not be none', [], /names no migration/],
    [
      'may not go beyond ours',
      [...known, { name: '0004_d', checksum: 'd' }],
      /a later version .*`0004_d`.* with that version/,
    ],
    ['may not differ from ours', [{ name: '0001_a', checksum: 'x' }], /its `0001_a` is not this one's/],
    ['may not leave one out', known.slice(1), /lacked `0001_a`/],
  ]
  for (const [name, theirs, sentence] of refused) {
    test(name, () => assert.throws(() => requireKnown(theirs, known), sentence))
  }
})
