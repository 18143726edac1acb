import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readHeldCases } from '../support/held-cases.ts'
import { knownCases } from '../support/known-cases.ts'

const held = readHeldCases(fileURLToPath(new URL('../../../', import.meta.url)))

test('every id in a test’s name belongs to a known case', () => {
  const known = Object.entries(knownCases).flatMap(([letter, cases]) =>
    Object.keys(cases).map((number) => letter + number),
  )
  assert.deepEqual(
    [...held.keys()].filter((id) => !known.includes(id)),
    [],
  )
})

/** T: one tenant never reaches another. J: no text becomes policy, SQL or a header. */
for (const [letter, last] of [
  ['T', 15],
  ['J', 9],
] as const) {
  test(`each of ${letter}1 to ${letter}${last} is covered by a test whose name has its id`, () => {
    const ids = Array.from({ length: last }, (_, index) => `${letter}${index + 1}`)
    assert.deepEqual(
      ids.filter((id) => !held.has(id)),
      [],
    )
  })
}
