import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import { createdRule, idsOf, onAccount, policyTenants } from '../../../test/support/policy-tenant.ts'
import { type Caller, sliceServer } from '../../../test/support/slice-server.ts'
import { Problem } from '../../kernel/errors.ts'
import { newId } from '../../kernel/id.ts'
import { sampleAccount, sampleQuestion } from '../../policy-engine/cedar/samples.ts'
import { decideAsk } from '../../policy-engine/deciding/decide.ts'
import { draftEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import type { RuleSet } from '../../policy-engine/deciding/rule-set.ts'
import { findRuleSet } from '../../policy-engine/deciding/rule-set-store.ts'
import type { Rule } from '../../policy-engine/rule.ts'
import { createPolicy } from '../create-policy.ts'
import { createRule } from '../create-rule.ts'
import { deletePolicy } from '../delete-policy.ts'
import { deleteRule } from '../delete-rule.ts'
import { updatePolicy } from '../update-policy.ts'
import { updateRule } from '../update-rule.ts'
import type { Draft } from './draft.ts'
import { readPresent } from './draft-store.ts'
import { applyDraft } from './drafted.ts'

const testDb = await testDatabase()
const { database } = testDb
const operations = { createPolicy, createRule, deletePolicy, deleteRule, updatePolicy, updateRule }
const call = await sliceServer(database, operations)
const { newTenant, newPolicy, versionOf } = policyTenants(testDb, call)

let admin: Caller
let policy_id: string
let other_id: string
let first: Rule
let second: Rule
let elsewhere: Rule

const create = (body: object, policy = policy_id) => createdRule(call, admin, `/v1/policies/${policy}/rules`, body)

beforeEach(async () => {
  admin = await newTenant()
  policy_id = await newPolicy(admin)
  other_id = await newPolicy(admin)
  first = await create(onAccount('1', { notice: 'Ask.', approval_mode: 'auto' }))
  second = await create({ policy_text: '@notice("Never.") forbid(principal, action, resource);' })
  elsewhere = await create(onAccount('2'), other_id)
})

async function drafted(draft: Draft, id = newId()) {
  const present = await readPresent(database.tenant(admin.tenant_id), draft)
  return applyDraft(present, draft, { id, author: admin.user_id, pointer: '/draft' })
}

/** The content and the place of rules, without the ids of new ones. */
function contentOf({ rules }: RuleSet, ids: readonly string[] = idsOf([first, second, elsewhere])) {
  return rules
    .map(({ id, ...rule }) => ({ ...rule, id: ids.includes(id) ? id : 'new' }))
    .sort((a, b) => (a.policy_text < b.policy_text ? -1 : 1))
}

async function saved(): Promise<RuleSet> {
  return findRuleSet(database.tenant(admin.tenant_id), String(await versionOf(admin)))
}

suite('a draft of changes', () => {
  test('gives the same rules as saving the changes one after another', async () => {
    const added = onAccount('3', { approval_mode: 'auto' })
    const reworded = { notice: 'Soon.', conditions: 'when { context.has_reason }' }
    const { before, after, pointers, ...ids } = await drafted({
      changes: [
        { create_rule: { policy_id, rule: added } },
        { update_rule: { rule_id: first.id, rule: reworded } },
        { delete_rule: { rule_id: second.id } },
        { update_policy: { policy_id: other_id, enabled: false } },
        { create_policy: { name: 'More', rules: [onAccount('4'), { policy_text: first.policy_text }] } },
      ],
    })
    assert.deepEqual(contentOf(before), contentOf(await saved()))
    const [new_id] = ids.added
    assert.equal(pointers.get(new_id ?? ''), '/draft/changes/0/create_rule/rule')
    assert.equal(ids.added.length, 3)
    assert.deepEqual([ids.changed, ids.removed.toSorted()], [[first.id], [second.id, elsewhere.id].toSorted()])

    await create(added)
    await call(admin, 'PATCH', `/v1/policies/${policy_id}/rules/${first.id}`, reworded)
    await call(admin, 'DELETE', `/v1/policies/${policy_id}/rules/${second.id}`)
    await call(admin, 'PATCH', `/v1/policies/${other_id}`, { enabled: false })
    const more = await newPolicy(admin)
    await create(onAccount('4'), more)
    await create({ policy_text: first.policy_text }, more)
    const unplaced = (ruleSet: RuleSet) =>
      contentOf(ruleSet).map((rule) => ({ ...rule, policy_id: rule.policy_id === policy_id ? policy_id : 'new' }))
    assert.deepEqual(unplaced(after), unplaced(await saved()))
  })

  test('leaves every rule the same object if the changes have no effect', async () => {
    const { before, after, added, changed, removed } = await drafted({
      changes: [{ update_rule: { rule_id: first.id, rule: { notice: 'Ask.' } } }],
    })
    assert.deepEqual(after.rules, before.rules)
    assert.deepEqual([added, changed, removed], [[], [], []])
  })

  test('is decided by a separate evaluator, and leaves decisions of the current rules unchanged', async () => {
    const { before, after } = await drafted({ changes: [{ delete_rule: { rule_id: second.id } }] })
    const question = { ...sampleQuestion, resources: [{ ...sampleAccount, id: '1' }] }
    const allowed = [before, after].map((ruleSet) => decideAsk(ruleSet, question, draftEvaluator).allowed)
    assert.deepEqual(allowed, [false, true])
    assert.equal(decideAsk(await saved(), question).allowed, false)
  })

  test('gives new rules the same ids each time it is applied', async () => {
    const draft = { changes: [{ create_rule: { policy_id, rule: onAccount('3') } }] }
    const id = newId()
    const once = await drafted(draft, id)
    assert.deepEqual((await drafted(draft, id)).after, once.after)
    assert.notDeepEqual((await drafted(draft)).added, once.added)
  })
})

suite('a draft of the whole set', () => {
  /** A returned rule, in the form in which rules are sent. */
  const asSent = ({ policy_text, notice, audit_session, approval_mode, ordinal }: Rule) => ({
    ...{ policy_text, audit_session, ordinal },
    ...(notice !== undefined && { notice }),
    ...(approval_mode !== undefined && { approval_mode }),
  })

  test('matches current rules by their text, and keeps who saved them', async () => {
    const { before, after, added, changed, removed } = await drafted({
      policies: [
        { id: policy_id, name: 'Production', priority: 0, rules: [asSent(first), onAccount('9'), asSent(second)] },
        { id: other_id, name: 'Production', priority: 1, rules: [onAccount('2')] },
      ],
    })
    assert.equal(added.length, 1)
    assert.deepEqual([changed, removed], [[], []])
    assert.deepEqual(
      after.rules.filter(({ id }) => id !== added[0]).map((rule) => before.rules.includes(rule)),
      [true, true, true],
    )
  })

  test('gives a rule that it has in another policy to its author, as writing it there would', async () => {
    const colleague = { ...admin, user_id: newId() }
    const draft: Draft = {
      policies: [{ id: other_id, name: 'Production', priority: 1, rules: [onAccount('2'), asSent(first)] }],
    }
    const present = await readPresent(database.tenant(admin.tenant_id), draft)
    const of = { id: newId(), author: colleague.user_id, pointer: '/draft' }
    const { after, changed } = await applyDraft(present, draft, of)
    assert.deepEqual(changed, [first.id])
    const saved_by = (rule: Rule) => after.rules.find(({ id }) => id === rule.id)?.saved_by
    assert.deepEqual([saved_by(first), saved_by(elsewhere)], [colleague.user_id, admin.user_id])
  })

  test('removes rules that it does not contain, and changes rules that it gives by id', async () => {
    const { after, added, changed, removed, pointers } = await drafted({
      policies: [{ id: policy_id, name: 'Production', rules: [{ id: second.id.toUpperCase(), ...onAccount('5') }] }],
    })
    assert.deepEqual([added, changed], [[], [second.id]])
    assert.deepEqual(removed.toSorted(), [first.id, elsewhere.id].toSorted())
    assert.equal(after.rules[0]?.saved_by, admin.user_id)
    assert.deepEqual([...pointers], [[second.id, '/draft/policies/0/rules/0']])
  })
})

suite('a fault of a draft', () => {
  const pointersOf = ({ details = {} }: Problem) =>
    (details.fields as { pointer: string }[]).map(({ pointer }) => pointer)

  const refused = async (draft: Draft) => {
    const problem = await drafted(draft).catch((error) => error)
    assert.ok(problem instanceof Problem)
    return problem
  }

  test('in a statement is reported with its place in the draft and in the text', async () => {
    const rule = { policy_text: 'permit(principal, action, resource) when { principal.nothing };' }
    const { code, details } = await refused({ changes: [{ create_rule: { policy_id, rule } }] })
    assert.equal(code, 'invalid_policy')
    assert.equal(details?.pointer, '/draft/changes/0/create_rule/rule')
    assert.deepEqual([details?.field, details?.line], ['policy_text', 1])
  })

  test('in a field is reported with a pointer to the field', async () => {
    const problem = await refused({
      policies: [{ name: 'A', rules: [{ effect: 'permit', principal_scope_type: 'eq' }] }],
    })
    assert.deepEqual(pointersOf(problem), [
      '/draft/policies/0/rules/0/principal_entity_type',
      '/draft/policies/0/rules/0/principal_entity_id',
    ])
  })

  test('is the same for an unknown rule and for another tenant’s rule', async () => {
    const stranger = first.id
    admin = await newTenant()
    const at = '/draft/changes/0/delete_rule/rule_id'
    for (const rule_id of [stranger, newId()]) {
      const { details } = await refused({ changes: [{ delete_rule: { rule_id } }] })
      assert.deepEqual(details?.fields, [{ pointer: at, why: 'names no rule of this tenant' }])
    }
  })

  test('is a duplicate rule, a duplicate priority, or a policy deleted twice', async () => {
    const twice = { id: first.id, ...onAccount('1') }
    const pointers = await Promise.all(
      [
        { policies: [{ id: policy_id, name: 'A', rules: [twice, twice] }] },
        {
          policies: [
            { name: 'A', priority: 1, rules: [] },
            { name: 'B', priority: 1, rules: [] },
          ],
        },
        { changes: [{ delete_policy: { policy_id } }, { delete_policy: { policy_id } }] },
        { changes: [1, 2].map((ordinal) => ({ update_rule: { rule_id: first.id, rule: { ordinal } } })) },
      ].map(async (draft) => pointersOf(await refused(draft as Draft))[0]),
    )
    assert.deepEqual(pointers, [
      '/draft/policies/0/rules/1/id',
      '/draft/policies/1/priority',
      '/draft/changes/1/delete_policy/policy_id',
      '/draft/changes/1/update_rule/rule_id',
    ])
  })
})
