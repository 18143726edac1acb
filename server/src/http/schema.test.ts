import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { Problem } from '../kernel/errors.ts'
import { Body, compileCheck, DateTime, Nullable, OneOf, readQuery, Uuid } from './schema.ts'

const check = compileCheck(
  Body({
    name: Type.String({ maxLength: 5 }),
    size: Type.Optional(Nullable(Type.Integer({ minimum: 1 }))),
    kind: Type.Optional(OneOf(['a', 'b'])),
    id: Type.Optional(Uuid),
    at: Type.Optional(DateTime),
  }),
)

const pointersOf = (value: unknown) => check(value).map((fault) => fault.pointer)

const table: [string, unknown, string[]][] = [
  ['a valid value', { name: 'ada', size: null, kind: 'a' }, []],
  ['a missing field', {}, ['/name']],
  ['an unknown field', { name: 'ada', role: 'admin' }, ['/role']],
  ['a field of the wrong type', { name: 5 }, ['/name']],
  ['a field that is too long', { name: 'abcdef' }, ['/name']],
  ['a number out of bounds', { name: 'ada', size: 0 }, ['/size']],
  ['a word that is not listed', { name: 'ada', kind: 'c' }, ['/kind']],
  ['a field that is not a uuid', { name: 'ada', id: '1' }, ['/id']],
  ['a field that is not a time', { name: 'ada', at: 'yesterday' }, ['/at']],
  ['a value that is not an object', [], ['']],
  ['a field whose name needs escaping', { name: 'ada', 'a/b~c': 1 }, ['/a~1b~0c']],
]

for (const [what, value, pointers] of table) {
  test(`finds the faults of ${what}`, () => {
    assert.deepEqual(pointersOf(value), pointers)
  })
}

for (const count of [1, 7, 8, 9, 99, 100, 500]) {
  test(`refuses ${count} unknown fields, alone and beside a field of the wrong type`, () => {
    const junk = Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]))
    assert.ok(check({ name: 'ada', ...junk }).length > 0)
    assert.ok(check({ ...junk, name: 5 }).length > 0)
  })
}

test('too many items or unknown fields are the only faults reported, and are not checked further (I2)', () => {
  const list = compileCheck(Body({ rows: Type.Array(Body({ name: Type.String() }), { maxItems: 3 }) }))
  const why = 'must not have more than 3 items'
  assert.deepEqual(list({ rows: Array(4).fill(1), else: 1 }), [{ pointer: '/rows', why }])
  const junk = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, 1]))
  for (const [faulty, place] of [
    [{ rows: 5, ...junk }, '/k'],
    [{ rows: [5, junk], name: 5 }, '/rows/1/k'],
  ] as const) {
    const faults = list(faulty)
    assert.equal(faults.length, 100)
    assert.ok(faults.every((fault) => fault.pointer.startsWith(place) && fault.why === 'is not a known field'))
  }
})

test('names the allowed words and the unknown fields', () => {
  assert.match(check({ name: 'ada', kind: 'c' })[0]?.why ?? '', /must be one of a, b/)
  assert.match(check({ name: 'ada', role: 1 })[0]?.why ?? '', /not a known field/)
})

const query = Type.Object({ limit: Type.Optional(Type.Integer()), unread: Type.Optional(Type.Boolean()) })

test('reads numbers and booleans from a query string, and leaves the rest as text for the check to refuse', () => {
  assert.deepEqual(readQuery(query, { limit: '10', unread: 'true' }), { limit: 10, unread: true })
  for (const limit of ['01', '1e3', '-1', '10abc', ' 1', '9999999999']) {
    assert.deepEqual(readQuery(query, { limit }), { limit })
  }
})

test('refuses an unknown parameter, and one that is given twice', () => {
  assert.throws(() => readQuery(query, { page: '1' }), Problem)
  assert.throws(() => readQuery(query, { limit: ['1', '2'] }), /twice/)
})
