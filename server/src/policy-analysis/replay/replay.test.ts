import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../test/support/chance.ts'
import { openHouse, type Person } from '../../../test/support/house.ts'
import { rounds } from '../../../test/support/race.ts'
import { replayStage, resultOf, rulesOf } from '../../../test/support/replay-stage.ts'
import { startWorkers } from '../../../test/support/workers.ts'
import type { RuleInput } from '../../policy-engine/rule.ts'

const house = await openHouse()
const { stage, replayed } = replayStage(house)

test('lists each question whose answer a draft changes, and counts them by requester, resource and rule', async () => {
  const on = await stage()
  await on.rule('@approval_mode("auto") permit (principal, action, resource == cloud_account::"600000000001");')
  await on.rule('permit (principal, action, resource == cloud_account::"600000000002");')
  const [policy] = (await rulesOf(on)).filter(({ rules }) => rules.length === 2)
  assert.ok(policy !== undefined)
  const [auto = assert.fail(), plain = assert.fail()] = policy.rules
  const at_once = await on.ask(on.account('600000000001'))
  const request = await on.ask(on.account('600000000002'))
  const refused = await on.call(on.people.user, 'POST', '/v1/requests', on.account('600000000003'))
  assert.equal(refused.status, 403)

  const permit = 'permit (principal, action, resource == cloud_account::"600000000003");'
  const forbid = '@approval_mode("auto") forbid (principal, action, resource == cloud_account::"600000000001");'
  const done = await replayed(on, {
    changes: [
      { create_rule: { policy_id: policy.id, rule: { policy_text: permit } } },
      { create_rule: { policy_id: policy.id, rule: { policy_text: forbid } } },
      { delete_rule: { rule_id: plain.id } },
    ],
  })
  assert.deepEqual([done.status, done.asked, done.total], ['done', 3, 3])
  const { counts, rules, by_requester, by_resource, by_rule, changed } = resultOf(done)
  const { questions, unchanged, newly_allowed, newly_denied, tightened, loosened } = counts
  assert.deepEqual([questions, unchanged, newly_allowed, newly_denied, tightened, loosened], [3, 0, 1, 1, 1, 0])
  assert.deepEqual(rules, { added: 2, changed: 0, removed: 1 })
  assert.deepEqual(
    changed.map(({ request_id, differences, before, after }) => [
      ...[request_id, ...differences, before.allowed, before.approval_mode, after.allowed, after.approval_mode],
    ]),
    [
      [null, 'newly_allowed', false, null, true, 'require'],
      [request, 'newly_denied', true, 'require', false, null],
      [at_once, 'tightened', true, 'auto', true, 'require'],
    ],
  )
  assert.match(changed[1]?.after.reasoning ?? '', /no rule permits/)
  assert.deepEqual(by_requester, {
    most: [
      { requester_id: on.people.user.user_id, ...countsOf(3, { newly_allowed: 1, newly_denied: 1, tightened: 1 }) },
    ],
    more: 0,
  })
  assert.equal(by_resource.most.length, 3)
  assert.deepEqual(
    by_rule.most
      .map(({ id, change, pointer, changed: of }) => [id === plain.id ? 'plain' : 'new', change, pointer, of])
      .sort(),
    [
      ['new', 'added', '/draft/changes/0/create_rule/rule', 1],
      ['new', 'added', '/draft/changes/1/create_rule/rule', 1],
      ['plain', 'removed', null, 1],
    ],
  )
  assert.ok(!by_rule.most.some(({ id }) => id === auto.id))
})

const countsOf = (changed: number, some: object) => ({
  ...{ changed, newly_allowed: 0, newly_denied: 0, loosened: 0, tightened: 0, audit_added: 0, audit_removed: 0 },
  ...some,
})

test('evaluates a reauthorized question once, and the question about the approver', async () => {
  const on = await stage()
  await on.rule('permit (principal, action, resource);')
  const request = await on.approve(await on.ask(on.account('600000000001')))
  await on.rule('forbid (principal, action, resource == cloud_account::"600000000001");')
  const workers = startWorkers(house)
  await on.grantsAre(request, 'failed', 'failed')
  await workers.stop()

  const starting = (await rulesOf(on)).find(({ rules }) =>
    rules.some((rule) => JSON.stringify(rule).includes('requests:approve')),
  )
  const { counts, changed } = resultOf(
    await replayed(on, { changes: [{ delete_policy: { policy_id: starting?.id } }] }),
  )
  assert.deepEqual([counts.questions, counts.unchanged, counts.newly_denied], [2, 1, 1])
  assert.deepEqual(
    changed.map(({ kind, request_id, requester_id, approver_id }) => [kind, request_id, requester_id, approver_id]),
    [['approve', request, on.people.user.user_id, on.people.approver.user_id]],
  )
})

test('evaluates the questions of the given days, of this tenant only', async () => {
  const [on, other] = [await stage(), await stage()]
  for (const one of [on, other]) await one.rule('permit (principal, action, resource);')
  await other.ask(other.account('600000000009'))
  const ids = [await on.ask(on.account('600000000001')), await on.ask(on.account('600000000002'))]
  await house.asSuperuser(
    `update decision set decided_at = decided_at - interval '2 days' where tenant_id = $1 and request_id = $2`,
    [on.tenant_id, ids[0]],
  )
  const draft = { policies: [] }
  assert.deepEqual(
    (await resultOf(await replayed(on, draft, 3)).changed).map(({ request_id }) => request_id),
    ids.toReversed(),
  )
  assert.deepEqual(
    (await resultOf(await replayed(on, draft, 1)).changed).map(({ request_id }) => request_id),
    ids.slice(1),
  )
})

test('evaluates each question at its own time, even if the rest is equal', async () => {
  const on = await stage()
  await on.rule('permit (principal, action, resource);')
  const ids = [await on.ask(on.account('600000000001')), await on.ask(on.account('600000000001'))]
  await house.asSuperuser(
    `update decision set question = jsonb_set(question, '{now}', '"2019-01-01T00:00:00.000Z"')
      where tenant_id = $1 and request_id = $2`,
    [on.tenant_id, ids[0]],
  )
  const rule = { policy_text: 'forbid (principal, action, resource) when { context.now < datetime("2020-01-01") };' }
  const { counts, changed } = resultOf(
    await replayed(on, { changes: [{ create_policy: { name: 'late', rules: [rule] } }] }),
  )
  assert.deepEqual([counts.questions, counts.unchanged], [2, 1])
  assert.deepEqual(
    changed.map(({ request_id, differences }) => [request_id, ...differences]),
    [[ids[0], 'newly_denied']],
  )
})

// ── Its answers are those of previews ──────────────────────────────────────────────────────────────────────────────────

const anyRule: fc.Arbitrary<RuleInput> = fc
  .record({
    head: fc.constantFrom('permit', 'permit', 'permit', 'forbid'),
    mode: fc.constantFrom('', 'auto', 'break_glass'),
    audit: fc.constantFrom('true', 'false'),
    resource: fc.constantFrom(
      '',
      ' == cloud_account::"600000000001"',
      ' in cloud_organizational_unit::"ou-ab12-12345678"',
    ),
    action: fc.constantFrom('', ' == Action::"Admin"'),
    condition: fc.constantFrom(
      '',
      'when { context.has_reason }',
      'when { resource.hasTag("env") && resource.getTag("env") == "prod" }',
      'unless { context.now > datetime("2020-01-01") }',
      'when { principal.is_owner }',
    ),
  })
  .map(({ head, mode, audit, resource, action, condition }) => ({
    policy_text: `${mode && `@approval_mode("${mode}")`} @audit_session("${audit}")
      ${head}(principal, action${action}, resource${resource}) ${condition};`,
  }))

const questions = ['600000000001', '600000000002', '600000000003'].flatMap((id) => [
  { resource: { type: 'cloud_account', id }, action: 'ReadOnly' },
  { resource: { type: 'cloud_account', id }, action: 'Admin', reason: 'to mend', break_glass: id.endsWith('1') },
])

type Previewed = { allowed: boolean; approval_mode: string | null; audit_session: boolean }

test('answers as a preview would, by the current rules and by the saved draft', async () => {
  for (const _ of rounds(3)) {
    const on = await stage()
    await on.cache({
      '600000000001': { units: ['ou-ab12-12345678'] },
      '600000000002': { units: ['ou-ab12-12345678'], tags: { env: 'prod' } },
    })
    const [present, drafted] = fc.sample(fc.array(anyRule, { minLength: 2, maxLength: 5 }), 2) as [
      RuleInput[],
      RuleInput[],
    ]
    const save = async (rules: readonly RuleInput[]) => {
      const { id } = await on.created(on.owner, '/v1/policies', { name: 'drawn' })
      for (const rule of rules) await on.created(on.owner, `/v1/policies/${id}/rules`, rule)
      return String(id)
    }
    const policy_id = await save(present)
    const people: Person[] = [on.people.user, on.owner]
    for (const person of people) for (const body of questions) await on.call(person, 'POST', '/v1/requests', body)
    const previews = async () => {
      const found = new Map<string, Previewed>()
      for (const person of people)
        for (const body of questions) {
          const { allowed, approval_mode, audit_session } = (
            await on.call(person, 'POST', '/v1/requests/preview', body)
          ).body as Previewed
          found.set(`${person.user_id} ${body.action} ${body.resource.id}`, { allowed, approval_mode, audit_session })
        }
      return found
    }

    const before = await previews()
    const { counts, changed } = resultOf(
      await replayed(on, {
        changes: [{ delete_policy: { policy_id } }, { create_policy: { name: 'drawn', rules: drafted } }],
      }),
    )
    assert.equal((await on.call(on.owner, 'DELETE', `/v1/policies/${policy_id}`)).status, 204)
    await save(drafted)
    const after = await previews()

    const shown = new Map(changed.map((one) => [`${one.requester_id} ${one.action} ${one.resource.id}`, one]))
    assert.equal(counts.questions, people.length * questions.length)
    for (const [key, was] of before) {
      const one = shown.get(key)
      const is = after.get(key)
      if (one === undefined) assert.deepEqual(is, was, key)
      else assert.deepEqual([pick(one.before), pick(one.after)], [was, is], key)
    }
  }
})

const pick = ({ allowed, approval_mode, audit_session }: Previewed) => ({ allowed, approval_mode, audit_session })
