import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Act, oneOf, openOf, twoOf } from './conflicts.ts'

suite('a decision', () => {
  const cases: [what: string, of_directory: boolean, one: Act, two: Act][] = [
    ['about a user of nobody’s', false, 'joins', 'staysOut'],
    ['about a user who left the directory', true, 'comesBack', 'freesAddress'],
  ]
  for (const [what, of_directory, one, two] of cases)
    test(what, () => assert.deepEqual([oneOf({ of_directory }), twoOf({ of_directory })], [one, two]))
})

test('those who are kept apart wait for nobody', () => {
  assert.deepEqual(openOf([{ kept_apart: true }, { kept_apart: false }]), [{ kept_apart: false }])
})
