import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemOf } from '../../test/support/problem.ts'
import { readIfMatch, requireMatch } from './if-match.ts'

const read: [string | undefined, string[] | undefined][] = [
  [undefined, undefined],
  ['*', undefined],
  ['"3"', ['"3"']],
  [' "3" , "4"', ['"3"', '"4"']],
  ['""', ['""']],
  ['"a,b"', ['"a,b"']],
  ['W/"3"', []],
  ['W/"3", "4"', ['"4"']],
]
for (const [header, tags] of read) {
  test(`\`If-Match: ${header}\` names ${tags ?? 'any state'} (P3)`, () => assert.deepEqual(readIfMatch(header), tags))
}

for (const header of ['', '3', '"3', '"3" "4"', '"3",', ',"3"', '*, "3"', '"3", *', "'3'", '"3"'.repeat(2_000)]) {
  test(`\`If-Match: ${header.slice(0, 20)}\` is refused, not read as any state (P3)`, () => {
    assert.equal(problemOf(() => readIfMatch(header)).code, 'invalid_input')
  })
}

test('one of the tags must be that of the record; an empty list matches no record (P3)', () => {
  requireMatch(undefined, '"3"')
  requireMatch(['"2"', '"3"'], '"3"')
  for (const tags of [['"2"'], []]) {
    const problem = problemOf(() => requireMatch(tags, '"3"'))
    assert.deepEqual([problem.code, problem.details], ['precondition_failed', { etag: '"3"' }])
  }
})
