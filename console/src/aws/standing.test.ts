import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { groupsOf, type Held, keyOf } from './standing.ts'

const held = (account: string, person: string, group?: string): Held => ({
  account: { id: account, name: `account ${account}` },
  permission_set: { id: 'ps-1', name: 'Admin', is_administrator: true },
  holder: { type: 'person', id: person, name: person, login: `${person}@example.com` },
  via_group: group === undefined ? null : { id: group, name: group },
  user_id: null,
  grant_id: null,
})

suite('standing access', () => {
  const byAccount = [held('1', 'ada'), held('1', 'ben'), held('2', 'ada')]
  test('stands below its account', () => {
    const groups = groupsOf(byAccount, 'account').map(({ name, id, held: { length } }) => [name, id, length])
    assert.deepEqual(groups, [
      ['account 1', '1', 2],
      ['account 2', '2', 1],
    ])
  })
  test('stands below its person', () => {
    const rows = [held('1', 'ada'), held('2', 'ada'), held('1', 'ben')]
    const groups = groupsOf(rows, 'person').map(({ name, id, held: { length } }) => [name, id, length])
    assert.deepEqual(groups, [
      ['ada', 'ada@example.com', 2],
      ['ben', 'ben@example.com', 1],
    ])
  })
  test('that comes by two groups is two rows', () => {
    assert.notEqual(keyOf(held('1', 'ada', 'ops')), keyOf(held('1', 'ada', 'dev')))
  })
  test('of nobody has no heading', () => assert.deepEqual(groupsOf([], 'account'), []))
})
