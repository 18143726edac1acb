import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { decidedToday } from './decided-today.ts'
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

suite('what was decided today', () => {
  const [yesterday, morning, noon] = ['2026-03-01T23:59:59Z', '2026-03-02T08:00:00Z', '2026-03-02T11:59:00.5Z']
  const isToday = (at: string) => at.startsWith('2026-03-02')
  const cases: [name: string, decided: string[], expected: string[]][] = [
    ['nothing is nothing', [], []],
    ['what was decided yesterday is left out', [yesterday], []],
    ['the last decision is first, whichever request is newer', [morning, yesterday, noon], [noon, morning]],
  ]
  for (const [name, decided, expected] of cases)
    test(name, () => {
      const shown = decidedToday(
        decided.map((updated_at) => ({ updated_at })),
        isToday,
      )
      assert.deepEqual(
        shown.map(({ updated_at }) => updated_at),
        expected,
      )
    })
})
