import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scimOutcome } from '../../test/support/scim-fault.ts'
import { namesVersion, requireVersion, weakTag } from './version.ts'

const cases: [string, boolean][] = [
  ['W/"7"', true],
  ['"7"', true],
  ['*', true],
  ['"1", W/"7"', true],
  ['"1",*', true],
  [' W/"7" ', true],
  ['7', false],
  ['W/7', false],
  ['w/"7"', false],
  ['W/"70"', false],
  ['"6"', false],
  ['', false],
  ['W/W/"7"', false],
  ['"7', false],
]
for (const [header, names] of cases) {
  test(`${JSON.stringify(header)} ${names ? 'names' : 'does not name'} the version 7`, () => {
    assert.equal(namesVersion(header, '7'), names)
    assert.equal(
      scimOutcome(() => requireVersion(header, '7')),
      names ? undefined : '412',
    )
  })
}

test('a call that names no version counts for any', () => assert.equal(requireVersion(undefined, '7'), undefined))
test('a version is shown as a weak tag', () => assert.equal(weakTag('7'), 'W/"7"'))
