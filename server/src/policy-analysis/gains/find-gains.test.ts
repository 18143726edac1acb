import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import { gainsStage, inWords } from '../../../test/support/gains-stage.ts'
import type { RuleInput } from '../../policy-engine/rule.ts'

const testDb = await testDatabase()
const { stage, call } = await gainsStage(testDb)
const { asSuperuser } = testDb

const named = (action: string, more: RuleInput = {}): RuleInput => ({
  effect: 'permit',
  action_scope_type: 'eq',
  action_ids: [action],
  resource_scope_type: 'is',
  resource_entity_type: 'cloud_account',
  ...more,
})
const of = (entity: 'Group' | 'User' | 'Role', id: string): RuleInput => ({
  principal_scope_type: entity === 'User' ? 'eq' : 'in',
  principal_entity_type: entity,
  principal_entity_id: id,
})
const tagged = (env: string) => `resource.hasTag("env") && resource.getTag("env") == "${env}"`

/** Ben of Finance, whose manager is Cleo, of the group; two accounts of production and one to play in. */
async function office() {
  const on = await stage()
  const group = await on.group('Operations')
  const ben = await on.person('Ben')
  const cleo = await on.person('cleo', { group })
  await asSuperuser(`update tenant_user set department = 'Finance', manager_id = $2 where id = $1`, [ben, cleo])
  await asSuperuser(`update tenant_user set department = 'Sales', title = 'Lead' where id = $1`, [cleo])
  await on.account('play', '100000000003', { env: 'play' }, 1)
  await on.account('shop', '100000000001', { env: 'production' }, 2)
  await on.account('bank', '100000000002', { env: 'production' }, 2)
  return { ...on, group, ben, cleo }
}
type Office = Awaited<ReturnType<typeof office>>

type Case = {
  has?: (on: Office) => RuleInput[]
  draft: (on: Office) => RuleInput[]
  changes: string[]
  /** Rules of it concern more than accounts. */
  hasOthers?: true
}

const cases: Record<string, Case> = {
  'reading at once, for everybody and everywhere': {
    draft: () => [named('ReadOnlyAccess', { approval_mode: 'auto' })],
    changes: ['gains ReadOnlyAccess at_once: Ben, cleo on play, bank, shop'],
  },
  'production by an approval': {
    draft: () => [named('Deploy', { conditions: `when { ${tagged('production')} }` })],
    changes: ['gains Deploy by_approval: Ben, cleo on bank, shop'],
  },
  'administration for a group': {
    draft: ({ group }) => [named('Admin', of('Group', group))],
    changes: ['gains Admin by_approval: cleo on play, bank, shop'],
  },
  'an emergency, which is no ordinary request': {
    draft: () => [named('Admin', { approval_mode: 'break_glass' })],
    changes: ['gains Admin at_once in an emergency: Ben, cleo on play, bank, shop'],
  },
  'one person by a condition': {
    draft: ({ ben }) => [named('Read', { conditions: `when { principal == User::"${ben}" }` })],
    changes: ['gains Read by_approval: Ben on play, bank, shop'],
  },
  'those of a department, those without a title, and those of a manager': {
    draft: ({ cleo }) => [
      named('Read', { conditions: 'when { principal has department && principal.department == "Finance" }' }),
      named('Write', { conditions: 'unless { principal has title }' }),
      named('Delete', { conditions: `when { principal has manager && principal.manager == User::"${cleo}" }` }),
      named('List', { conditions: 'when { principal has title && principal.title like "L*" }' }),
    ],
    changes: [
      'gains Delete by_approval: Ben on play, bank, shop',
      'gains List by_approval: cleo on play, bank, shop',
      'gains Read by_approval: Ben on play, bank, shop',
      'gains Write by_approval: Ben on play, bank, shop',
    ],
  },
  'one account by its number, and one by its name': {
    draft: () => [
      named('Read', { conditions: 'when { resource == cloud_account::"100000000001" }' }),
      named('Write', { conditions: 'when { resource.name == "bank" }' }),
    ],
    changes: ['gains Read by_approval: Ben, cleo on shop', 'gains Write by_approval: Ben, cleo on bank'],
  },
  'several actions of one rule, and one that a condition takes back': {
    draft: () => [
      named('', {
        action_scope_type: 'in',
        action_ids: ['Write', 'Read', 'Delete'],
        conditions: 'unless { action == Action::"Delete" || resource.name != "bank" }',
      }),
    ],
    changes: ['gains Read by_approval: Ben, cleo on bank', 'gains Write by_approval: Ben, cleo on bank'],
  },
  'less approval for a group': {
    has: () => [named('Read')],
    draft: ({ group }) => [named('Read', { ...of('Group', group), approval_mode: 'auto' })],
    changes: ['at_once Read at_once: cleo on play, bank, shop'],
  },
  'a forbid takes away, in emergencies too': {
    has: () => [named('Read', { approval_mode: 'auto' }), named('Read', { approval_mode: 'break_glass' })],
    draft: () => [{ effect: 'forbid', conditions: `when { ${tagged('production')} }` }],
    hasOthers: true,
    changes: [
      'loses Read at_once: Ben, cleo on bank, shop',
      'loses Read at_once in an emergency: Ben, cleo on bank, shop',
    ],
  },
  'a forbid of approval without a person': {
    has: () => [named('Read', { approval_mode: 'auto' })],
    draft: () => [named('Read', { effect: 'forbid', approval_mode: 'auto' })],
    changes: ['needs_approval Read by_approval: Ben, cleo on play, bank, shop'],
  },
  'what was permitted before': {
    has: () => [named('Read')],
    draft: ({ group }) => [named('Read', of('Group', group))],
    changes: [],
  },
  'any action: those that other rules name': {
    has: () => [named('Read', { resource_scope_type: 'is', resource_entity_type: 'cloud_storage_bucket' })],
    draft: ({ cleo }) => [{ effect: 'permit', ...of('User', cleo) }],
    hasOthers: true,
    changes: ['gains Read by_approval: cleo on play, bank, shop'],
  },
  'only a short duration': {
    draft: () => [named('Read', { conditions: 'when { context.duration_seconds <= 900 }' })],
    changes: ['gains Read by_approval: Ben, cleo on play, bank, shop'],
  },
  'a rule about approvals': { draft: () => [named('approve')], changes: [] },
}

suite('who gains and who loses', () => {
  for (const [name, { has, draft, changes, hasOthers = false }] of Object.entries(cases))
    test(name, async () => {
      const on = await office()
      // An auto rule of somebody else, who is not there.
      for (const rule of has?.(on) ?? []) await on.rule(rule)
      const answer = await on.gains(on.created(...draft(on)))
      assert.deepEqual(answer.changes.map(inWords), changes)
      assert.deepEqual(answer.examined, answer.total)
      assert.deepEqual([answer.is_complete, answer.has_other_resources], [!hasOthers, hasOthers])
      assert.deepEqual([answer.total.people, answer.total.accounts], [2, 3])
    })

  test('by a changed, a deleted and a disabled rule', async () => {
    const on = await office()
    const read = await on.rule(named('Read', { notice: 'Read with care' }))
    const write = await on.rule(named('Write'))
    const changed = { update_rule: { rule_id: read.id, rule: named('Look') } }
    const { changes } = await on.gains({ changes: [changed, { delete_rule: { rule_id: write.id } }] })
    const everybody = 'by_approval: Ben, cleo on play, bank, shop'
    assert.deepEqual(changes.map(inWords), [
      `gains Look ${everybody}`,
      `loses Read ${everybody}`,
      `loses Write ${everybody}`,
    ])
    const off = await on.gains({ changes: [{ update_policy: { policy_id: on.policy_id, enabled: false } }] })
    assert.deepEqual(off.changes.map(inWords), [`loses Read ${everybody}`, `loses Write ${everybody}`])
    const unchanged = await on.gains({
      changes: [{ update_rule: { rule_id: read.id, rule: { notice: 'Take care' } } }],
    })
    assert.deepEqual(unchanged.changes, [])
  })

  test('a rule approves nothing of who saves it', async () => {
    const on = await office()
    await on.giveRole(on.user_id)
    const auto = named('Read', { approval_mode: 'auto' })
    const { changes } = await on.gains(on.created(auto))
    const everywhere = 'on play, bank, shop'
    assert.deepEqual(changes.map(inWords), [
      `gains Read at_once: Ben, cleo ${everywhere}`,
      `gains Read by_approval: Ada ${everywhere}`,
    ])
    const { id } = await on.rule(auto)
    const ben = { ...on.admin, user_id: on.ben }
    const draft = { changes: [{ update_rule: { rule_id: id, rule: { conditions: 'when { true }' } } }] }
    assert.deepEqual((await on.gains(draft, ben)).changes.map(inWords), [
      `at_once Read at_once: Ada ${everywhere}`,
      `needs_approval Read by_approval: Ben ${everywhere}`,
    ])
  })
})

suite('the people', () => {
  test('are active, may request, and are of this tenant', async () => {
    const on = await office()
    await on.person('Guest', { role: 'guest' })
    const [left, suspended] = [await on.person('Left'), await on.person('Suspended')]
    await asSuperuser('update tenant_user set active = false, deleted_at = now() where id = $1', [left])
    await asSuperuser(`update tenant_user set suspended_until = now() + interval '1 day' where id = $1`, [suspended])
    const actor = await on.person('Actor', { actor: 'actor' })
    const other = await office()
    await other.person('Stranger')
    await other.account('strange', '100000000009')
    const answer = await on.gains(on.created(named('Read')))
    assert.deepEqual(answer.changes.map(inWords), ['gains Read by_approval: Actor, Ben, cleo on play, bank, shop'])
    assert.deepEqual(answer.total, { people: 3, accounts: 3, actions: 1 })
    assert.deepEqual(
      answer.changes[0]?.people.names.map(({ id }) => id),
      [actor, on.ben, on.cleo],
    )
    assert.equal(answer.changes[0]?.accounts.names[0]?.id, '100000000003')
  })

  test('and accounts are named only to those who may read them, and who is in which group', async () => {
    const on = await office()
    for (const missing of ['users:read', 'groups:read', 'cloud_accounts:read']) {
      const scopes = on.admin.scopes?.filter((scope) => scope !== missing) ?? []
      const answer = await call({ ...on.admin, scopes }, 'POST', '/v1/policies/gains', { draft: { changes: [] } })
      assert.deepEqual([answer.status, answer.body.details], [403, { scope: missing }])
    }
  })

  test('whom a rule reads by name are compared by what is known of them', async () => {
    const on = await office()
    const conditions = `when { User::"${on.ben}".name == "Ben" && cloud_account::"100000000001".hasTag("env") }`
    assert.deepEqual((await on.gains(on.created(named('Read', { conditions })))).changes.map(inWords), [
      'gains Read by_approval: Ben, cleo on play, bank, shop',
    ])
  })
})

test('a draft of too many rules is refused before it is read', async () => {
  const on = await stage()
  const create = (count: number) => ({
    changes: [{ create_policy: { name: 'many', rules: Array.from({ length: count }, () => named('Read')) } }],
  })
  const send = (count: number) => call(on.admin, 'POST', '/v1/policies/gains', { draft: create(count) })
  const refused = await send(101)
  assert.deepEqual([refused.status, refused.body.code], [422, 'unprocessable'])
  assert.equal((await send(2)).status, 200)
})

test('the example of the guide answers what the guide says', async () => {
  const on = await stage()
  await on.person('Ada')
  await on.giveRole(on.user_id)
  await on.account('shop', '111122223333', { env: 'production' })
  await on.account('playground', '444455556666', { env: 'playground' })
  const guide = readFileSync(new URL('../../../../docs/guides/policies.md', import.meta.url), 'utf8')
  const [, sent = ''] = /POST \/v1\/policies\/gains -d '(.*?)'\n```/s.exec(guide) ?? []
  const { draft } = JSON.parse(sent.replace(`'$POLICY'`, on.policy_id))
  const { changes } = await on.gains(draft)
  assert.deepEqual(changes.map(inWords), [
    'gains ViewCosts at_once: Ada on playground',
    'gains ViewCosts by_approval: Ada on playground',
  ])
  assert.equal(changes[1]?.people.names[0]?.id, on.user_id, 'who saves the rule')
})
