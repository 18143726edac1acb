import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import { gainsStage, inWords } from '../../../test/support/gains-stage.ts'
import type { RuleInput } from '../../policy-engine/rule.ts'

const testDb = await testDatabase()
const { stage, call } = await gainsStage(testDb)

async function oneOfEach() {
  const on = await stage()
  await on.person('Ben')
  await on.account('shop', '100000000001')
  return on
}

/** A rule for the clock’s hour that begins in so many hours, in UTC, in which a new tenant reckons. */
const inHours = (hours: number) => {
  const hour = (new Date().getUTCHours() + hours) % 24
  return { hour, words: `context.minute >= ${hour * 60} && context.minute < ${hour * 60 + 60}` }
}
const read = (conditions: string): RuleInput => ({
  effect: 'permit',
  action_scope_type: 'eq',
  action_ids: ['Read'],
  resource_scope_type: 'is',
  resource_entity_type: 'cloud_account',
  conditions,
})

suite('where nobody gains now', () => {
  test('the next hour of the week at which somebody does is shown', async () => {
    const on = await oneOfEach()
    const { hour, words } = inHours(5)
    const answer = await on.gains(on.created(read(`when { ${words} }`)))
    assert.deepEqual(answer.changes.map(inWords), ['gains Read by_approval: Ben on shop'])
    const at = new Date(answer.at)
    assert.deepEqual([at.getUTCHours(), at.getUTCMinutes(), answer.duration_seconds], [hour, 0, 3_600])
    assert.equal(answer.is_complete, true)
  })

  test('on another weekday, and for a short time only', async () => {
    const on = await oneOfEach()
    const weekday = ((new Date().getUTCDay() + 2) % 7) + 1
    const conditions = `when { context.weekday == ${weekday} && context.duration_seconds < 3600 }`
    const answer = await on.gains(on.created(read(conditions)))
    assert.deepEqual(answer.changes.map(inWords), ['gains Read by_approval: Ben on shop'])
    assert.equal(((new Date(answer.at).getUTCDay() + 6) % 7) + 1, weekday)
    assert.equal(answer.duration_seconds, 900)
  })

  test('by a permit that a forbid of this hour stops', async () => {
    const on = await oneOfEach()
    const { words } = inHours(0)
    const next = inHours(1)
    await on.rule({ effect: 'forbid', conditions: `when { (${words}) || (${next.words}) }` })
    const answer = await on.gains(on.created(read('when { context.has_reason }')))
    assert.deepEqual(answer.changes.map(inWords), ['gains Read by_approval: Ben on shop'])
    assert.notEqual(new Date(answer.at).getUTCHours(), next.hour)
  })

  test('what somebody loses is shown, now', async () => {
    const on = await oneOfEach()
    const { id } = await on.rule(read('when { true }'))
    const { words } = inHours(5)
    const narrowed = { changes: [{ update_rule: { rule_id: id, rule: { conditions: `when { ${words} }` } } }] }
    const answer = await on.gains(narrowed)
    assert.deepEqual(answer.changes.map(inWords), ['loses Read by_approval: Ben on shop'])
    assert.equal(answer.is_complete, true)
  })

  test('what somebody loses only later is shown then', async () => {
    const on = await oneOfEach()
    await on.rule(read('when { true }'))
    const { hour, words } = inHours(5)
    const answer = await on.gains(
      on.created({
        ...{ effect: 'forbid', resource_scope_type: 'is', resource_entity_type: 'cloud_account' },
        conditions: `when { ${words} }`,
      }),
    )
    assert.deepEqual(answer.changes.map(inWords), ['loses Read by_approval: Ben on shop'])
    assert.equal(new Date(answer.at).getUTCHours(), hour)
  })

  test('nothing is shown for a time that does not come within the week', async () => {
    const on = await oneOfEach()
    const answer = await on.gains(on.created(read('when { context.now < datetime("2001-01-01") }')))
    assert.deepEqual([answer.changes, answer.is_complete], [[], true])
  })

  test('the tenant’s maximum of a duration is kept', async () => {
    const on = await oneOfEach()
    await testDb.asSuperuser(
      `insert into setting (tenant_id, key, value) values ($1, 'requests.max_duration_seconds', '600')`,
      [on.tenant_id],
    )
    const answer = await on.gains(on.created(read('when { context.duration_seconds <= 600 }')))
    assert.deepEqual([answer.duration_seconds, answer.changes.length], [600, 1])
  })
})

test('faults of a draft are refused with their place', async () => {
  const on = await oneOfEach()
  const send = (draft: object) => call(on.admin, 'POST', '/v1/policies/gains', { draft })
  const faulty = await send(on.created({ policy_text: 'permit (principal, action, resource) when { nothing };' }))
  assert.deepEqual([faulty.status, faulty.body.code], [400, 'invalid_policy'])
  assert.equal((faulty.body.details as { pointer: string }).pointer, '/draft/changes/0/create_rule/rule')
  const unknown = await send({ changes: [{ delete_rule: { rule_id: on.policy_id } }] })
  assert.deepEqual([unknown.status, unknown.body.code], [400, 'invalid_input'])
})
