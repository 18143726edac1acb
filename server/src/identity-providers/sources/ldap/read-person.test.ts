import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { readSettings } from './ldap-config.ts'
import type { Entry } from './read-message.ts'
import { personAttributes, readPerson } from './read-person.ts'

const settings = readSettings({ base_dn: 'dc=example' })
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

function entryOf(attributes: Record<string, string | string[]>): Entry {
  const values = Object.entries(attributes).map(
    ([name, all]) => [name.toLowerCase(), [all].flat().map((one) => Buffer.from(one))] as const,
  )
  return { dn: 'cn=Ada,dc=example', attributes: new Map(values) }
}

const read = (attributes: Record<string, string | string[]>, own = settings) =>
  readPerson(entryOf(attributes), own, (dn) => (dn === 'cn=Grace,dc=example' ? 'id-of-grace' : undefined))

suite('a person', () => {
  test('of Active Directory is read with all that is said of them', () => {
    const person = read({
      userPrincipalName: 'ada@example.com',
      sAMAccountName: 'ada',
      cn: 'Ada Lovelace',
      givenName: 'Ada',
      sn: 'Lovelace',
      displayName: 'Lovelace, Ada',
      mail: 'Ada.Lovelace@example.com',
      title: 'Analyst',
      department: 'Engines',
      manager: ['cn=Gone,dc=example', 'cn=Grace,dc=example'],
      userAccountControl: '512',
    })
    assert.deepEqual(person, {
      userName: 'ada@example.com',
      name: { formatted: 'Ada Lovelace', familyName: 'Lovelace', givenName: 'Ada' },
      displayName: 'Lovelace, Ada',
      title: 'Analyst',
      active: true,
      emails: [{ value: 'Ada.Lovelace@example.com', type: 'work', primary: true }],
      [enterprise]: { department: 'Engines', manager: { value: 'id-of-grace' } },
    })
  })

  test('of whom little is said has only that', () => {
    assert.deepEqual(read({ uid: 'ada', manager: 'cn=Unknown,dc=example' }), { userName: 'ada', active: true })
  })

  test('has several addresses in the same order at each reading, the first as the primary one', () => {
    const emails = [
      { value: 'a@example.com', type: 'work', primary: true },
      { value: 'b@example.com', type: 'work', primary: false },
    ]
    assert.deepEqual(read({ mail: ['b@example.com', 'a@example.com'] }).emails, emails)
    assert.deepEqual(read({ mail: ['a@example.com', 'b@example.com'] }).emails, emails)
  })

  test('is read from the attributes that the config names', () => {
    const own = readSettings({
      base_dn: 'dc=example',
      user_name_attribute: 'sAMAccountName',
      email_attribute: 'otherMailbox',
      department_attribute: 'ou',
      title_attribute: 'employeeType',
    })
    const person = read(
      {
        sAMAccountName: 'ada',
        userPrincipalName: 'x',
        otherMailbox: 'a@x',
        mail: 'b@x',
        ou: 'Engines',
        employeeType: 'Staff',
      },
      own,
    )
    assert.deepEqual(person, {
      userName: 'ada',
      title: 'Staff',
      active: true,
      emails: [{ value: 'a@x', type: 'work', primary: true }],
      [enterprise]: { department: 'Engines' },
    })
    assert.ok(personAttributes(own).includes('otherMailbox'))
    assert.ok(!personAttributes(own).includes('mail'))
  })
})

suite('a person is disabled', () => {
  for (const [what, attributes, active] of [
    ['by bit 2 of userAccountControl', { userAccountControl: '514' }, false],
    ['by that bit of a negative number', { userAccountControl: '-2147483646' }, false],
    ['not by other bits of it', { userAccountControl: '66048' }, true],
    ['by nsAccountLock', { nsAccountLock: 'TRUE' }, false],
    ['not by its opposite', { nsAccountLock: 'false' }, true],
    ['by a lock for good of a password policy', { pwdAccountLockedTime: '000001010000Z' }, false],
    ['not by a lock after wrong passwords', { pwdAccountLockedTime: '20260101120000Z' }, true],
  ] as const) {
    test(what, () => assert.equal(read(attributes).active, active))
  }

  test('or not is never guessed', () => {
    assert.throws(() => read({ userAccountControl: 'x' }), { name: 'TargetError', message: /cn=Ada.*no number/ })
  })
})
