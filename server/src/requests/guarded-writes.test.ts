import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { systemActor } from '../kernel/context.ts'
import { type Decision, decideAsk } from '../policy-engine/deciding/decide.ts'
import { findRuleSet } from '../policy-engine/deciding/rule-set-store.ts'
import { noFacts } from '../policy-facts/policy-facts.flow.ts'
import { askQuestion } from './policy-question.ts'
import { readCurrentAccess, readDeciding } from './request-store.ts'
import type { Risk } from './risk.ts'
import { cancelPendingRequest, insertRequest, type PersonsDecision, saveDecision } from './transition-store.ts'

/** A write depends on what was read: if the rules or the user changed meanwhile, nothing is written. */
const house = await openHouse()

async function stage(name: string) {
  const on = await requestStage(house, name)
  await on.rule('@approval_mode("auto") permit (principal, action, resource);')
  const tx = house.database.tenant(on.tenant_id)
  const requester_id = on.people.user.user_id
  const resource = { type: 'cloud_account', id: '900000000001' } as const
  const requested = {
    resource,
    action: 'ReadOnly',
    reason: null,
    duration_seconds: 600,
    break_glass: false,
    metadata: {},
    places: [{ ...resource, account_id: resource.id }],
    home: resource.id,
  }
  const when = { now: new Date('2026-03-01T08:00:00Z'), via: 'token', source_ip: '192.0.2.1' } as const
  async function decide(): Promise<Decision> {
    const standing = await readCurrentAccess(tx, requester_id, resource, [resource.id])
    const ruleSet = await findRuleSet(tx, standing.version)
    return decideAsk(ruleSet, askQuestion(standing.principal, requested, when, { ...standing, facts: noFacts }))
  }
  const risk: Risk = { risk: 'normal', risk_reasons: [] }
  const insert = (decision: Decision) => {
    const ctx = { tx, actor: systemActor, request_id: 'test' }
    return insertRequest(
      ctx,
      { requester_id, requested, when, risk, pending_ttl_seconds: 60, reminder_seconds: 0, unapprovable: false },
      decision,
    )
  }
  const kept = async () => {
    const rows = await house.asSuperuser<{ n: number }>(
      `select (select count(*) from access_request where tenant_id = $1)
        + (select count(*) from access_grant where tenant_id = $1)
        + (select count(*) from decision where tenant_id = $1)
        + (select count(*) from event where tenant_id = $1 and type like 'request.%') as n`,
      [on.tenant_id],
    )
    return Number(rows[0]?.n)
  }
  return { ...on, decide, insert, kept }
}

test('a decision by rules that changed meanwhile is not written, and a written one has its version (R7)', async () => {
  const on = await stage('edited meanwhile')
  const stale = await on.decide()
  await on.rule('forbid (principal, action, resource == cloud_account::"900000000001");')
  assert.equal(await on.insert(stale), undefined)
  assert.equal(await on.kept(), 0)
  assert.equal((await on.decide()).allowed, false)

  const other = await stage('not edited')
  const fresh = await other.decide()
  const request = await other.insert(fresh)
  const [decision] = await house.asSuperuser('select rule_set_version::text as v from decision where request_id = $1', [
    request?.id,
  ])
  assert.equal(decision?.v, fresh.rule_set_version)
})

for (const [verb, change] of [
  ['deactivated', 'active = false'],
  ['suspended', `suspended_until = now() + interval '1 hour'`],
]) {
  test(`a requester who is ${verb} between the evaluation and the write gets no request (R6, P35)`, async () => {
    const on = await stage('shut out meanwhile')
    const decision = await on.decide()
    await house.asSuperuser(`update tenant_user set ${change} where id = $1`, [on.people.user.user_id])
    assert.equal(await on.insert(decision), undefined)
    assert.equal(await on.kept(), 0)
  })
}

suite('a person’s decision that comes too late writes nothing and reports the guard that refused it', async () => {
  const on = await requestStage(house, 'decided too late')
  await on.rule('permit (principal, action, resource);')
  const ctx = { tx: house.database.tenant(on.tenant_id), actor: systemActor, request_id: 'test' }
  const decisionAbout = async (id: string): Promise<PersonsDecision> => {
    const decided_by = on.people.approver.user_id
    const deciding = await readDeciding(ctx.tx, id, decided_by)
    assert.ok(deciding)
    const { requested, when, version } = deciding
    const word = {
      allowed: true,
      mode: null,
      audit_session: false,
      notices: [],
      reasoning: '',
      governing_rule_id: null,
    }
    const permitted = { ...word, rule_ids: [], held_by_rule_ids: [], errors: [], rule_set_version: version }
    return { status: 'approved', decided_by, duration_seconds: null, reasoning: null, requested, when, permitted }
  }
  const kept = async (id: string) => {
    const [row] = await house.asSuperuser<{ n: number }>(
      `select ((select count(*) from access_grant where request_id = $1)
        + (select count(*) from decision where request_id = $1)
        + (select count(*) from event where subject_id = $1::text))::int as n`,
      [id],
    )
    return row?.n
  }
  const become = (change: string) =>
    house.asSuperuser(`update tenant_user set ${change} where id = $1`, [on.people.approver.user_id])
  async function becomeApproverAgain() {
    await become('active = true, suspended_until = null')
    await house.asSuperuser(
      `insert into user_role (tenant_id, user_id, role_id) values ($1, $2, 'approver') on conflict do nothing`,
      [on.tenant_id, on.people.approver.user_id],
    )
  }
  const late: [string, (id: string) => Promise<unknown>, object][] = [
    [
      'the rules changed',
      () => on.rule('forbid (principal, action == Action::"x", resource);'),
      { refused: 'rules_changed' },
    ],
    [
      'the requester cancelled the request',
      (id) => cancelPendingRequest(ctx, id),
      { refused: 'not_pending', now: { status: 'cancelled', decided_by: null } },
    ],
    [
      'another approver decided first',
      (id) => on.approve(id),
      { refused: 'not_pending', now: { status: 'approved', decided_by: on.people.approver.user_id } },
    ],
    [
      'the request has expired',
      (id) => house.asSuperuser('update access_request set next_look_at = clock_timestamp() where id = $1', [id]),
      { refused: 'not_pending', now: { status: 'pending', decided_by: null } },
    ],
    ['the approver was deactivated', () => become('active = false'), { refused: 'may_not_decide' }],
    [
      'the approver was suspended',
      () => become(`suspended_until = clock_timestamp() + interval '1 day'`),
      { refused: 'may_not_decide' },
    ],
    [
      'the approver was demoted',
      () => house.asSuperuser('delete from user_role where user_id = $1', [on.people.approver.user_id]),
      { refused: 'may_not_decide' },
    ],
  ]
  for (const [index, [what, happens, outcome]] of late.entries()) {
    test(what, async () => {
      const id = await on.ask(on.account(`91000000000${index}`))
      const decision = await decisionAbout(id)
      await happens(id)
      const before = await kept(id)
      assert.deepEqual(await saveDecision(ctx, decision), outcome)
      await becomeApproverAgain()
      assert.equal(await kept(id), before)
    })
  }
})
