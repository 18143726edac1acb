import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { chosenRole, offeredRoles } from './roles.ts'

const role = (id: string, scopes: string[], system = true) => ({ id, name: id, description: '', system, scopes })
const all = [
  role('admin', ['requests:create', 'requests:approve', 'users:write']),
  role('approver', ['requests:create', 'requests:approve']),
  role('auditor', ['audit:read']),
  role('user', ['requests:create']),
  role('keeper', ['users:write'], false),
  role('nothing', [], false),
]

suite('the roles that a person may give', () => {
  const cases: [what: string, held: string[], system: string[], own: string[]][] = [
    ['are none but an empty one for who holds nothing', [], [], ['nothing']],
    ['are those whose scopes they hold', ['requests:create', 'users:write'], ['user'], ['keeper', 'nothing']],
    ['are not those of which they hold a part', ['requests:approve'], [], ['nothing']],
    [
      'come in one order',
      ['audit:read', 'users:write', 'requests:approve', 'requests:create'],
      ['user', 'approver', 'admin', 'auditor'],
      ['keeper', 'nothing'],
    ],
  ]
  for (const [what, held, system, own] of cases)
    test(what, () => {
      const offered = offeredRoles(all, held)
      assert.deepEqual([offered.system, offered.own.map(({ id }) => id)], [system, own])
    })

  test('do not include a system role that this console does not know', () =>
    assert.deepEqual(offeredRoles([role('new', [])], []), { system: [], own: [] }))
})

suite('the role that is chosen', () => {
  const keeper = { id: 'keeper', name: 'Keeper', description: '' }
  const cases: [what: string, offered: Parameters<typeof chosenRole>[0], wanted: string, expected: string][] = [
    ['is the wanted one', { system: ['user', 'approver'], own: [keeper] }, 'keeper', 'keeper'],
    ['is the first one where the wanted one is not offered', { system: ['auditor'], own: [keeper] }, 'user', 'auditor'],
    ['is one of their own where no other is offered', { system: [], own: [keeper] }, 'user', 'keeper'],
    ['is the wanted one where none is offered', { system: [], own: [] }, 'user', 'user'],
  ]
  for (const [what, offered, wanted, expected] of cases)
    test(what, () => assert.equal(chosenRole(offered, wanted), expected))
})
