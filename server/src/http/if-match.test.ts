import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemOf } from '../../test/support/problem.ts'
import { type IfMatch, readIfMatch, recordTag, requireMatch } from './if-match.ts'

const read: [string | undefined, IfMatch][] = [
  [undefined, undefined],
  ['*', 'any'],
  [' * ', 'any'],
  ['"3"', ['"3"']],
  [' "3" , "4"', ['"3"', '"4"']],
  ['""', ['""']],
  ['"a,b"', ['"a,b"']],
  ['"é"', ['"é"']],
  ['"3",', ['"3"']],
  [', "3" ,, "4",', ['"3"', '"4"']],
  ['W/"3"', []],
  ['W/"3", "4"', ['"4"']],
]
for (const [header, tags] of read) {
  test(`\`If-Match: ${header}\` names ${tags ?? 'nothing'} (P3)`, () => assert.deepEqual(readIfMatch(header), tags))
}

for (const header of ['', '3', '"3', '"3" "4"', ',', '*, "3"', '"3", *', "'3'", '"3"'.repeat(2_000)]) {
  test(`\`If-Match: ${header.slice(0, 20)}\` is refused, not read as any state (P3)`, () => {
    assert.equal(problemOf(() => readIfMatch(header)).code, 'invalid_input')
  })
}

test('one of the tags must be that of the record; an empty list matches no record (P3)', () => {
  requireMatch(undefined, '"3"')
  requireMatch(['"2"', '"3"'], '"3"')
  requireMatch('any', '"3"')
  for (const tags of [['"2"'], []]) {
    const problem = problemOf(() => requireMatch(tags, '"3"'))
    assert.deepEqual([problem.code, problem.details], ['precondition_failed', { etag: '"3"' }])
  }
})

test('a record that does not exist matches nothing, not even `*` (P3)', () => {
  requireMatch(undefined, undefined)
  for (const tags of ['any', ['"3"']] as const) {
    assert.equal(problemOf(() => requireMatch(tags, undefined)).code, 'precondition_failed')
  }
})

test('the tag of a record is the same however its fields are ordered, and another for any other value', () => {
  const tag = recordTag({ name: 'a', config: { x: 1, y: [1, 2] } })
  assert.equal(recordTag({ config: { y: [1, 2], x: 1 }, name: 'a', warning: 'w', none: undefined }, 'warning'), tag)
  for (const other of [{ name: 'b' }, { config: { x: 1, y: [2, 1] } }, { more: null }]) {
    assert.notEqual(recordTag({ name: 'a', config: { x: 1, y: [1, 2] }, ...other }), tag)
  }
  assert.deepEqual(readIfMatch(tag), [tag])
})
