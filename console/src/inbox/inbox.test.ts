import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { AccessRequest } from '../requests/request.ts'
import { neighbour } from './neighbour.ts'
import { withLeaving } from './with-leaving.ts'

const moves: [chosen: string | undefined, key: string, expected: string | undefined][] = [
  [undefined, 'j', 'one'],
  ['one', 'j', 'two'],
  ['three', 'j', undefined],
  ['three', 'k', 'two'],
  ['one', 'k', undefined],
  ['one', 'x', undefined],
]

suite('the keys of the inbox', () => {
  for (const [chosen, key, expected] of moves)
    test(`${key} at ${chosen ?? 'nothing'} goes to ${expected ?? 'nothing'}`, () =>
      assert.equal(neighbour(['one', 'two', 'three'], chosen, key), expected))
})

suite('a request that leaves the inbox', () => {
  const request = (id: string) => ({ id }) as AccessRequest
  const shown = (ids: string) => [...ids].map((id) => ({ ...request(id), isGone: false }))
  const read = (list: ReturnType<typeof withLeaving>) =>
    list.map(({ id, isGone }) => (isGone ? `(${id})` : id)).join('')

  const cases: [before: string, listed: string, leaving: string, expected: string][] = [
    ['abc', 'abc', '', 'abc'],
    ['abc', 'ac', 'b', 'a(b)c'],
    ['abc', 'bc', 'a', '(a)bc'],
    ['abc', '', 'abc', '(a)(b)(c)'],
    ['abc', 'abc', 'b', 'abc'],
    ['abc', 'acd', 'b', 'a(b)cd'],
    ['', 'a', 'z', 'a(z)'],
  ]
  for (const [before, listed, leaving, expected] of cases)
    test(`${before} → ${listed || 'nothing'} with ${leaving || 'nothing'} leaving: ${expected}`, () => {
      const gone = new Map([...leaving].map((id) => [id, request(id)]))
      assert.equal(read(withLeaving([...listed].map(request), gone, shown(before))), expected)
    })
})
