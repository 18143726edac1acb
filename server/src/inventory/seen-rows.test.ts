import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holds, person } from '../../test/support/inventory-stage.ts'
import { rowsOf } from './seen-rows.ts'

test('the key of a login that is cut inside a character can be stored', () => {
  // One letter that the key writes with 18, and one of two halves.
  const login = `${'\ufdfa'.repeat(33)}12345\u{10437}`
  const [row] = rowsOf({ people: [person('u1', login)] }, null).people
  assert.equal(row?.login, login)
  assert.equal(row.login_key?.length, 600)
  assert.ok(row.login_key.isWellFormed())
})

test('a person without a name that one can see has that of the login, or the id', () => {
  const nameOf = (login: string) => rowsOf({ people: [person('u1', login, '\u202e ')] }, null).people[0]?.name
  assert.deepEqual([nameOf('ada'), nameOf(' '), nameOf('\ufeff'), nameOf('')], ['ada', 'u1', 'u1', 'u1'])
})

test('a key that the database cannot store is none', () => {
  const keyOf = (entitlement_key: string) =>
    rowsOf({ assignments: [{ ...holds('1', 'Read', 'person', 'u1'), entitlement_key }] }, null).assignments[0]
      ?.entitlement_key
  assert.deepEqual(['key', 'a\0', '\ud800', 'x'.repeat(2_001)].map(keyOf), ['key', null, null, null])
})

test('a group that comes several times is one, with all the members', () => {
  const group = (member_ids: string[]) => ({ id: 'g1', name: 'All', member_ids })
  const { groups, members } = rowsOf({ groups: [group(['u1', 'u2']), group(['u2', 'u3'])] }, null)
  assert.deepEqual(groups, [{ id: 'g1', name: 'All' }])
  assert.deepEqual(
    members.map(({ person_id }) => person_id),
    ['u1', 'u2', 'u3'],
  )
})
