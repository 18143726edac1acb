import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import { gainsStage } from '../../../test/support/gains-stage.ts'
import type { RuleInput } from '../../policy-engine/rule.ts'

const testDb = await testDatabase()
const { stage } = await gainsStage(testDb)

/** The first `of` names that a name and a number with three digits make. */
const numbered = (name: string, of: number) =>
  Array.from({ length: of }, (_, index) => `${name} ${String(index + 1).padStart(3, '0')}`)

const read = (conditions?: string): RuleInput => ({
  effect: 'permit',
  action_scope_type: 'eq',
  action_ids: ['Read'],
  resource_scope_type: 'is',
  resource_entity_type: 'cloud_account',
  ...(conditions !== undefined && { conditions }),
})

suite('in a large tenant', () => {
  let on: Awaited<ReturnType<typeof stage>>
  before(async () => {
    on = await stage()
    await testDb.asSuperuser(
      `with made as (insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
          select $1::uuid, gen_random_uuid(), n || '@example.com', n || '@example.com',
            'Person ' || lpad(n::text, 3, '0'), 'local' from generate_series(1, 600) n returning id)
        insert into user_role (tenant_id, user_id, role_id) select $1::uuid, id, 'asker' from made`,
      [on.tenant_id],
    )
    await testDb.asSuperuser(
      `insert into cloud_account (tenant_id, id, name, account_id, metadata, rank)
        select $1::uuid, n::text, 'Account ' || lpad(n::text, 3, '0'), lpad(n::text, 12, '0'),
          jsonb_build_object('team', n::text, 'env', case when n % 2 = 0 then 'prod' else 'play' end), 300 - n
        from generate_series(1, 300) n`,
      [on.tenant_id],
    )
  })

  test('the first 500 people count, and all accounts that the rules do not tell apart', async () => {
    const answer = await on.gains(
      on.created(read('when { resource.hasTag("env") && resource.getTag("env") == "prod" }')),
    )
    assert.deepEqual(answer.examined, { people: 500, accounts: 300, actions: 1 })
    assert.deepEqual(answer.total, { people: 600, accounts: 300, actions: 1 })
    assert.equal(answer.is_complete, false)
    const [change, ...others] = answer.changes
    assert.deepEqual([others, change?.people.count, change?.accounts.count], [[], 500, 150])
    const namesOf = (one: { names: { name: string }[] } | undefined) => one?.names.map(({ name }) => name)
    assert.deepEqual(namesOf(change?.people), numbered('Person', 20))
    const last = numbered('Account', 300).filter((_, index) => index % 2 === 1)
    assert.deepEqual(namesOf(change?.accounts), last.toReversed().slice(0, 20))
  })

  test('the accounts of the first 200 kinds count', async () => {
    const answer = await on.gains(on.created(read('when { resource.hasTag("team") }')))
    assert.deepEqual(answer.examined, { people: 500, accounts: 200, actions: 1 })
    assert.equal(answer.total.accounts, 300)
    assert.equal(answer.changes[0]?.accounts.count, 200)
    assert.equal(answer.changes[0]?.accounts.names[0]?.name, 'Account 300')
  })

  test('people and accounts that the rules all tell apart are examined until the budget is spent', async () => {
    const conditions = 'when { principal.email like "*@example.com" && resource.hasTag("team") }'
    const answer = await on.gains(on.created(read(conditions)))
    const { people, accounts } = answer.examined
    assert.deepEqual([people, answer.is_complete], [500, false])
    assert.ok(accounts < 200, `${accounts} accounts`)
    const count = answer.changes[0]?.accounts.count ?? 0
    assert.ok(count === accounts || count === accounts + 1, 'the one under examination may be shown too')
  })

  test('the first 20 actions count', async () => {
    const action_ids = numbered('Action', 25)
    const answer = await on.gains(on.created({ effect: 'permit', action_scope_type: 'in', action_ids }))
    assert.deepEqual([answer.examined.actions, answer.total.actions, answer.is_complete], [20, 25, false])
    assert.deepEqual(
      answer.changes.map(({ action }) => action),
      action_ids.slice(0, 20),
    )
  })
})

suite('what is not examined is said', () => {
  test('resources of other types', async () => {
    const on = await stage()
    await on.person('Ben')
    await on.account('shop', '100000000001')
    for (const more of [
      { resource_scope_type: 'is', resource_entity_type: 'cloud_storage_bucket' },
      { resource_scope_type: 'eq', resource_entity_type: 'cloud_storage_bucket', resource_entity_id: 'logs' },
    ] as const) {
      const answer = await on.gains(on.created({ ...read(), ...more }))
      assert.deepEqual([answer.changes, answer.has_other_resources, answer.is_complete], [[], true, false])
    }
    const unit = { resource_entity_type: 'cloud_organizational_unit', resource_entity_id: 'ou-ab12-12345678' }
    const answer = await on.gains(on.created({ ...read(), resource_scope_type: 'in', ...unit }))
    // What lies in the unit’s accounts too.
    assert.deepEqual([answer.has_other_resources, answer.is_complete], [true, false])
  })

  test('actions that nobody named, of a rule of any action', async () => {
    const on = await stage()
    await on.person('Ben')
    await on.account('shop', '100000000001')
    const any = on.created({ effect: 'permit' })
    const nothing = await on.gains(any)
    assert.deepEqual([nothing.changes, nothing.total.actions, nothing.is_complete], [[], 0, false])
    await testDb.asSuperuser(
      `insert into action_description (tenant_id, action, description) select $1, 'Act ' || n, 'Acts'
        from generate_series(1, 30) n`,
      [on.tenant_id],
    )
    const known = await on.gains(any)
    assert.deepEqual([known.examined.actions, known.total.actions, known.is_complete], [20, 30, false])
    assert.equal(known.changes[0]?.action, 'Act 1')
  })

  test('a tenant without people or accounts', async () => {
    const on = await stage()
    const answer = await on.gains(on.created(read()))
    assert.deepEqual(answer.total, { people: 0, accounts: 0, actions: 1 })
    assert.deepEqual([answer.changes, answer.is_complete], [[], true])
  })
})
