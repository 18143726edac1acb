import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { fc } from '../../../test/support/chance.ts'
import { openHouse } from '../../../test/support/house.ts'
import { rounds } from '../../../test/support/race.ts'
import { replayStage, resultOf, rulesOf } from '../../../test/support/replay-stage.ts'
import { sampleRule, sampleRuleSet } from '../../../test/support/sample-rule.ts'
import type { Tx } from '../../kernel/context.ts'
import { decideApprove } from '../../policy-engine/deciding/decide.ts'
import { draftEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import type { RuleSet } from '../../policy-engine/deciding/rule-set.ts'
import { findPolicyFacts, noFacts } from '../../policy-facts/policy-facts.flow.ts'
import { possibleApprovers, whoMayDecide } from '../../requests/possible-approvers.flow.ts'
import { compareApprovers, type Means } from './compare-approvers.flow.ts'

const house = await openHouse()
const { stage, read, replayed } = replayStage(house)
type Stage = Awaited<ReturnType<typeof stage>>

/** A stage where everybody may ask, and a policy lets only the group of security decide, of which the approver is a member. */
async function securedStage() {
  const on = await stage()
  await on.rule('permit (principal, action, resource);')
  const { id: group } = await on.created(on.owner, '/v1/groups', { name: 'security' })
  await on.created(on.owner, `/v1/groups/${group}/members`, { user_id: on.people.approver.user_id })
  const { id: policy_id } = await on.created(on.owner, '/v1/policies', { name: 'approved by security' })
  const bySecurity = `forbid (principal, action == Action::"approve", resource) unless { principal in Group::"${group}" };`
  await on.created(on.owner, `/v1/policies/${policy_id}/rules`, { policy_text: bySecurity })
  return { on, policy_id: String(policy_id) }
}

const mayDecide = async (on: Stage, id: string) =>
  (await Array.fromAsync(whoMayDecide(house.database.tenant(on.tenant_id), id, new Date()))).flat()
const approversOf = async (on: Stage, draft: object) => resultOf(await replayed(on, draft)).approvers

suite('a replay', () => {
  test('lists the approvers that each open and past request gains when the policy about them is deleted', async () => {
    const { on, policy_id } = await securedStage()
    const past = await on.ask(on.account('600000000001'))
    await on.call(on.people.approver, 'POST', `/v1/requests/${past}/deny`, {})
    const open = await on.ask(on.account('600000000002'))
    const before = await mayDecide(on, open)
    const approvers = await approversOf(on, { changes: [{ delete_policy: { policy_id } }] })
    assert.equal((await on.call(on.owner, 'DELETE', `/v1/policies/${policy_id}`)).status, 204)
    const added = (await mayDecide(on, open)).filter((id) => !before.includes(id))
    assert.deepEqual(before, [on.people.approver.user_id])
    assert.ok(added.length > 1)
    const { by_request, ...counts } = approvers ?? { by_request: [] }
    assert.deepEqual(counts, {
      ...{ requests: 2, total: 2, changed: 2, added: 2 * added.length, removed: 0, nobody_left: 0, undecidable: 0 },
    })
    const nobody = { users: [], more: 0 }
    assert.deepEqual(
      by_request.map(({ created_at: _, ...one }) => one),
      [
        [open, 'pending', '600000000002'],
        [past, 'denied', '600000000001'],
      ].map(([request_id, status, id]) => ({
        ...{ request_id, status, requester_id: on.people.user.user_id, action: 'ReadOnly' },
        resource: { type: 'cloud_account', id },
        added: { users: added, more: 0 },
        ...{ removed: nobody, nobody_left: false },
      })),
    )
  })

  test('marks the requests that nobody may decide by the draft', async () => {
    const { on } = await securedStage()
    const [near, far] = [await on.ask(on.account('600000000001')), await on.ask(on.account('600000000002'))]
    const forbid = 'forbid (principal, action == Action::"approve", resource in cloud_account::"600000000001");'
    const rules = [{ policy_text: forbid }]
    const found = await approversOf(on, { changes: [{ create_policy: { name: 'closed', rules } }] })
    assert.deepEqual([found?.requests, found?.changed, found?.removed, found?.nobody_left], [2, 1, 1, 1])
    assert.deepEqual(
      found?.by_request.map(({ request_id, removed, nobody_left }) => [request_id, removed.users, nobody_left]),
      [[near, [on.people.approver.user_id], true]],
    )
    assert.ok(near !== far)
  })

  test('compares no approvers where the draft changes no rule about them', async () => {
    const { on } = await securedStage()
    await on.ask(on.account('600000000001'))
    const rules = [{ policy_text: 'forbid (principal, action, resource);' }]
    assert.equal(await approversOf(on, { changes: [{ create_policy: { name: 'closed', rules } }] }), null)
    // The same rules in other policies are the same rules.
    const again = (await rulesOf(on)).flatMap((policy) => policy.rules)
    const texts = again.map(({ policy_text }) => ({ policy_text }))
    assert.equal(await approversOf(on, { policies: [{ name: 'all of them', rules: texts }] }), null)
  })

  const accounts = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => `cloud_account::"${600_000_000_000 + from + n}"`).join(', ')
  const never = (action: string, named: string) =>
    `forbid (principal, ${action}, resource) when { context.weekday == 9 && resource in [${named}] };`
  const approving = 'action == Action::"approve"'
  for (const [what, present, drafted, isOpened] of [
    ['with rules about requesting that tell too many accounts apart', '', never('action', accounts(0, 200)), false],
    [
      'where each rule set tells few accounts apart',
      never(approving, accounts(0, 120)),
      never(approving, accounts(120, 240)),
      true,
    ],
  ] as const)
    test(`finds the approvers of a bucket of an unknown account ${what}`, async () => {
      const { on, policy_id } = await securedStage()
      const undo = present === '' ? undefined : await on.rule(present)
      const request = await on.ask({ resource: { type: 'cloud_storage_bucket', id: 'logs' }, action: 'ReadOnly' })
      const before = await mayDecide(on, request)
      const gone = (await rulesOf(on)).flatMap(({ rules }) =>
        rules.filter(({ policy_text }) => policy_text === present),
      )
      const approvers = await approversOf(on, {
        changes: [
          { create_policy: { name: 'drafted', rules: [{ policy_text: drafted }] } },
          ...gone.map(({ id: rule_id }) => ({ delete_rule: { rule_id } })),
          ...(isOpened ? [{ delete_policy: { policy_id } }] : []),
        ],
      })
      await on.rule(drafted)
      await undo?.()
      if (isOpened) assert.equal((await on.call(on.owner, 'DELETE', `/v1/policies/${policy_id}`)).status, 204)
      const after = await mayDecide(on, request)
      assert.notDeepEqual(after, before)
      const without = (some: string[], others: string[]) => some.filter((one) => !others.includes(one))
      assert.deepEqual(
        approvers?.by_request.map(({ added, removed, nobody_left }) => [added.users, removed.users, nobody_left]),
        [[without(after, before), without(before, after), after.length === 0]],
      )
    })

  test('that an earlier version finished is shown without approvers', async () => {
    const { on } = await securedStage()
    const { id } = await replayed(on, { policies: [] })
    await house.asSuperuser(`update policy_replay set result = result - 'approvers' where id = $1`, [id])
    const { result } = await read(on, id)
    assert.ok(result !== null && !('approvers' in result))
  })
})

suite('the comparison of approvers', async () => {
  const on = await stage()
  await on.rule('permit (principal, action, resource);')
  const { id: group } = await on.created(on.owner, '/v1/groups', { name: 'security' })
  await on.created(on.owner, `/v1/groups/${group}/members`, { user_id: on.people.approver.user_id })
  const unit = 'ou-ab12-60000000'
  await on.cache({ '600000000001': { units: [unit], tags: { env: 'prod' } }, '600000000002': { tags: { env: 'dev' } } })
  const bucket = { resource: { type: 'cloud_storage_bucket', id: 'logs' }, action: 'ReadOnly' }
  const asked = [...['600000000001', '600000000001', '600000000002'].map((id) => on.account(id)), bucket]
  const ids: string[] = []
  for (const person of [on.people.user, on.owner]) for (const body of asked) ids.unshift(await on.ask(body, person))
  const tx: Tx = house.database.tenant(on.tenant_id)
  const aDay = 86_400_000
  const span = { since: new Date(Date.now() - aDay), until: new Date(Date.now() + aDay) }
  const setOf = (texts: readonly string[]): RuleSet => ({
    ...sampleRuleSet(texts.map((text, index) => sampleRule(`r${index}`, text))),
    tenant_id: on.tenant_id,
  })
  const factsFor = (ruleSet: RuleSet) =>
    findPolicyFacts(tx, [ruleSet], { accountUnknown: true, evaluator: draftEvaluator })
  const compare = async (before: RuleSet, after: RuleSet, means: Partial<Means> = {}) => {
    const facts = { before: await factsFor(before), after: await factsFor(after) }
    const usual: Means = { facts, yieldToEventLoop: async () => undefined, goesOn: async () => true }
    return compareApprovers(tx, { before, after }, span, { ...usual, ...means })
  }
  const permit = (more = '') => `permit (principal, action == Action::"approve", resource)${more};`

  test('examines the latest requests whose approvers fit its limit, and says how many', async () => {
    const all = await compare(setOf([]), setOf([permit()]))
    assert.deepEqual([all?.requests, all?.total, all?.changed], [8, 8, 8])
    assert.deepEqual(
      all?.by_request.map(({ request_id }) => request_id),
      ids,
    )
    const perRequest = (all?.added ?? 0) / 8
    const some = await compare(setOf([]), setOf([permit()]), { most: 2 * perRequest + 1 })
    assert.ok(Number(some?.requests) < 8 && Number(some?.requests) > 0)
    assert.equal(some?.total, 8)
    assert.deepEqual(some?.by_request, all?.by_request.slice(0, some?.requests))
  })

  test('ends where another worker has the replay', async () => {
    assert.equal(await compare(setOf([]), setOf([permit()]), { goesOn: async () => false }), undefined)
  })

  const logs = 'cloud_storage_bucket::"logs"'
  const anyRule = fc
    .record({
      effect: fc.constantFrom('permit', 'permit', 'forbid'),
      principal: fc.constantFrom('principal', `principal in Group::"${group}"`, 'principal in Role::"approver"'),
      resource: fc.constantFrom(
        'resource',
        'resource in cloud_account::"600000000001"',
        `resource in cloud_organizational_unit::"${unit}"`,
        `resource == access_request::"${ids[1]}"`,
      ),
      condition: fc.constantFrom(
        '',
        ` unless { principal in Group::"${group}" }`,
        ' when { resource.requester.is_owner }',
        ' unless { principal.is_owner || resource.requester.email == "owner@example.com" }',
        ` when { resource == access_request::"${ids[4]}" }`,
        ` when { User::"${on.owner.user_id}".is_owner && principal.is_owner }`,
        ' when { context.now > datetime("2020-01-01") }',
        ' when { principal == resource.requester }',
        ...['prod', 'dev'].map((env) => ` unless { ${logs}.hasTag("env") && ${logs}.getTag("env") == "${env}" }`),
      ),
    })
    .map(
      ({ effect, principal, resource, condition }) =>
        `${effect}(${principal}, action == Action::"approve", ${resource})${condition};`,
    )

  test('finds what each single question answers', async () => {
    const anyRules = fc.array(anyRule, { minLength: 1, maxLength: 4 })
    const asking = await Promise.all(
      ids.map(async (id) => ({ id, batches: await Array.fromAsync(possibleApprovers(tx, id)) })),
    )
    let changed = 0
    const property = fc.asyncProperty(anyRules, anyRules, async (old, fresh) => {
      const [before, after] = [setOf(old), setOf(fresh)]
      const found = await compare(before, after)
      const facts = new Map([
        [before, await factsFor(before)],
        [after, await factsFor(after)],
      ])
      const expected: [string, string[], string[], boolean][] = []
      for (const { id, batches } of asking) {
        const may = (ruleSet: RuleSet) =>
          batches.flatMap(({ approvers, questionFor }) =>
            approvers.flatMap((approver) => {
              const question = questionFor(approver, facts.get(ruleSet) ?? noFacts)
              return decideApprove(ruleSet, question, draftEvaluator).allowed ? approver.whole.id : []
            }),
          )
        const [was, is] = [may(before), may(after)]
        const [added, removed] = [is.filter((user) => !was.includes(user)), was.filter((user) => !is.includes(user))]
        if (added.length + removed.length > 0) expected.push([id, added, removed, is.length === 0])
      }
      assert.deepEqual(
        (found?.by_request ?? []).map(({ request_id, added, removed, nobody_left }) => [
          ...[request_id, added.users, removed.users, nobody_left],
        ]),
        expected,
        [...old, '→', ...fresh].join('\n'),
      )
      changed += expected.length
    })
    await fc.assert(property, { numRuns: rounds(15).length })
    assert.ok(changed > 10)
  })
})
