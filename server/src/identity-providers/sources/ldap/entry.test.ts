import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { TargetError } from '../../../provisioners/driver.ts'
import { firstText, guidText, idOf, textsOf } from './entry.ts'
import type { Entry } from './read-message.ts'

function entryOf(attributes: Readonly<Record<string, readonly (string | Buffer)[]>>): Entry {
  const values = Object.entries(attributes).map(
    ([name, all]) => [name.toLowerCase(), all.map((one) => Buffer.from(one))] as const,
  )
  return { dn: 'uid=ada,dc=example', attributes: new Map(values) }
}

/** As Microsoft documents it: the bytes of a GUID, and its text. */
const guid = Buffer.from('f0dc0e6fdb07cf4fb38fe0b2b54c3b0a', 'hex')
const guidAsText = '6f0edcf0-07db-4fcf-b38f-e0b2b54c3b0a'
const usual = ['entryUUID', 'objectGUID']

suite('the id of an entry', () => {
  test('is its entryUUID as it is', () => assert.equal(idOf(entryOf({ entryUUID: ['dc60-99'] }), usual), 'dc60-99'))
  test('is else its objectGUID, with three groups of bytes reversed', () => {
    assert.equal(idOf(entryOf({ objectGUID: [guid] }), usual), guidAsText)
    assert.equal(idOf(entryOf({ objectGUID: [guid] }), ['OBJECTGUID']), guidAsText)
    assert.equal(
      guidText(Buffer.from('efbbbf00112233445566778899aabbcc', 'hex')),
      '00bfbbef-2211-4433-5566-778899aabbcc',
    )
  })
  const faulty: [string, Record<string, (string | Buffer)[]>, string[]][] = [
    ['has none', { cn: ['Ada'] }, usual],
    ['has two', { employeeNumber: ['1', '2'] }, ['employeeNumber']],
    ['has an empty one', { employeeNumber: [''] }, ['employeeNumber']],
    ['has one with spaces', { employeeNumber: ['a b'] }, ['employeeNumber']],
    ['has one that is no text', { objectSid: [Buffer.from([0xff, 0xfe])] }, ['objectSid']],
    ['has one that is too long', { employeeNumber: ['x'.repeat(256)] }, ['employeeNumber']],
    ['has a GUID of another length', { objectGUID: [guid.subarray(1)] }, usual],
  ]
  for (const [what, attributes, names] of faulty) {
    test(`is refused where it ${what}`, () => {
      const entry = entryOf(attributes)
      assert.throws(
        () => idOf(entry, names),
        (error: TargetError) =>
          error instanceof TargetError && error.kind === 'permanent' && /uid=ada.*id_attribute/.test(error.message),
      )
    })
  }
})

test('texts come sorted, without what is no text and what is empty', () => {
  assert.deepEqual(textsOf(entryOf({ mail: ['b@x', ' a@x ', '', Buffer.from([0xff])] }), 'MAIL'), ['a@x', 'b@x'])
})

test('the first attribute with a text counts', () => {
  assert.equal(firstText(entryOf({ cn: ['Ada'], displayName: [' '] }), ['displayName', 'cn']), 'Ada')
})
