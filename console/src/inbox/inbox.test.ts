import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { neighbour } from './neighbour.ts'
import { type Shown, withLeaving } from './with-leaving.ts'

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
  /** A letter is a request; one in parentheses is gone. */
  const read = (list: ReturnType<typeof withLeaving>) =>
    list.map(({ id, isGone }) => (isGone ? `(${id})` : id)).join('')
  const shown = (text: string) =>
    [...text.matchAll(/\((\w)\)|\w/g)].map(([id, gone]) => ({ id: gone ?? id, isGone: gone !== undefined })) as Shown[]

  const cases: [before: string, listed: string, expected: string][] = [
    ['', 'abc', 'abc'],
    ['abc', 'abc', 'abc'],
    ['abc', 'ac', 'a(b)c'],
    ['abc', 'bc', '(a)bc'],
    ['abc', '', '(a)(b)(c)'],
    ['a(b)c', 'ac', 'a(b)c'],
    ['a(b)c', 'abc', 'abc'],
    ['abc', 'acd', 'a(b)cd'],
  ]
  for (const [before, listed, expected] of cases)
    test(`${before || 'nothing'}, then ${listed || 'nothing'}: ${expected}`, () =>
      assert.equal(read(withLeaving(shown(listed), shown(before))), expected))
})
