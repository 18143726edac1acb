import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Act, oneOf, openOf, settledBy, twoOf } from './conflicts.ts'

suite('a decision', () => {
  const cases: [what: string, of_directory: boolean | undefined, one: Act, two: Act][] = [
    ['about a user of nobody’s', false, 'joins', 'staysOut'],
    ['about a user who left the directory', true, 'comesBack', 'freesAddress'],
    ['where nothing says whose the user is', undefined, 'joins', 'staysOut'],
  ]
  for (const [what, of_directory, one, two] of cases)
    test(what, () => {
      const conflict = of_directory === undefined ? {} : { of_directory }
      assert.deepEqual([oneOf(conflict), twoOf(conflict)], [one, two])
    })

  test('names the user where the two are one person, and nobody where they are two', () => {
    const acts: Act[] = ['joins', 'comesBack', 'staysOut', 'freesAddress']
    assert.deepEqual(
      acts.map((act) => settledBy(act, { user_id: 'u1' })),
      ['u1', 'u1', null, null],
    )
  })
})

test('those who are kept apart wait for nobody', () => {
  assert.deepEqual(openOf([{ kept_apart: true }, { kept_apart: false }]), [{ kept_apart: false }])
})
