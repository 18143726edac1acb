import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openPeopleIndex } from './people-index.ts'
import type { Entry } from './read-message.ts'

const person = (dn: string, id: string, uid?: string): Entry => ({
  dn,
  attributes: new Map([
    ['id', [Buffer.from(id)]],
    ...(uid === undefined ? [] : [['uid', [Buffer.from(uid)]] as const]),
  ]),
})

suite('the people of a directory', () => {
  test('are found by every spelling of their DN, and by their account', () => {
    const people = openPeopleIndex(['id'])
    people.add(person('uid=Ada,dc=example', '1', 'ada'))
    assert.equal(people.findDn('UID = ada, DC=Example'), '1')
    assert.equal(people.findUid('ada'), '1')
    assert.equal(people.findDn('no dn'), undefined)
  })

  test('are not found by the name of an account that several have', () => {
    const people = openPeopleIndex(['id'])
    for (const id of ['1', '2', '3']) people.add(person(`cn=${id}`, id, 'ada'))
    assert.equal(people.findUid('ada'), undefined)
  })

  test('come once: an entry again may pass, an id of two people will not', () => {
    const people = openPeopleIndex(['id'])
    people.add(person('cn=ada', '1'))
    assert.throws(() => people.add(person('cn=ada', '1')), { kind: 'transient', message: /twice/ })
    assert.throws(() => people.add(person('cn=grace', '1')), {
      kind: 'permanent',
      message: /same id `1`.*id_attribute/,
    })
    assert.throws(() => people.add(person('CN=Ada', '2')), { kind: 'permanent', message: /two entries have the DN/ })
  })

  test('are refused where they are too many', () => {
    const people = openPeopleIndex(['id'], 2)
    for (const id of ['1', '2']) people.add(person(`cn=${id}`, id))
    assert.throws(() => people.add(person('cn=3', '3')), {
      kind: 'permanent',
      message: /more than 2 people.*user_filter/,
    })
  })
})
