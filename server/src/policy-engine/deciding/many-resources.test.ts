import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleRule, sampleRuleSet } from '../../../test/support/sample-rule.ts'
import { createEngine } from '../cedar/engine.ts'
import type { Resource } from '../cedar/question.ts'
import { sampleApproval, sampleQuestion } from '../cedar/samples.ts'
import { decideApprove, decideApproveInPieces, decideAsk, decideAskInPieces } from './decide.ts'
import { createPolicyEvaluator } from './evaluate.ts'

const kinds = Array.from({ length: 40 }, (_, index): Resource => {
  return {
    type: 'cloud_storage_bucket',
    id: 'logs',
    name: 'logs',
    tags: { n: `${index}` },
    parents: [],
    as_if: 'unnamed',
  }
})
const everything = sampleRule('all', 'permit(principal, action, resource);')
const approving = sampleRule('approve', 'permit(principal, action == Action::"approve", resource);')

/** An evaluator that counts its evaluations, and lists at which question each took place. */
function counting() {
  const evaluator = createPolicyEvaluator(createEngine())
  let count = 0
  return {
    evaluator: {
      ...evaluator,
      onAnswer: () => {
        count += 1
      },
    },
    evaluations: () => count,
  }
}

test('a resource of an unknown account is denied at the first kind of account that denies', () => {
  const third = 'resource.hasTag("n") && resource.getTag("n") == "2"'
  const forbid = sampleRule('third', `forbid(principal, action, resource) when { ${third} };`)
  const { evaluator, evaluations } = counting()
  const decision = decideAsk(sampleRuleSet([everything, forbid]), { ...sampleQuestion, resources: kinds }, evaluator)
  assert.deepEqual([decision.allowed, decision.rule_ids, evaluations()], [false, ['third'], 3])

  const known = kinds.map(({ as_if: _, ...resource }, index) => ({ ...resource, id: `logs-${index}` }))
  const fannedOut = counting()
  const all = decideAsk(
    sampleRuleSet([everything, forbid]),
    { ...sampleQuestion, resources: known },
    fannedOut.evaluator,
  )
  assert.deepEqual([all.allowed, fannedOut.evaluations()], [false, 40])
})

test('so is the decision of a request for it', () => {
  const targets = kinds.map(
    (kind, index): Resource => ({ ...kind, parents: [{ type: 'cloud_account', id: `${index}` }] }),
  )
  const forbid = sampleRule('second', 'forbid(principal, action == Action::"approve", resource in cloud_account::"1");')
  const { evaluator, evaluations } = counting()
  const decision = decideApprove(sampleRuleSet([approving, forbid]), { ...sampleApproval, targets }, evaluator)
  assert.deepEqual([decision.allowed, evaluations()], [false, 2])
})

test('questions about many resources of one tenant take turns; few, and those of another tenant, do not wait', async () => {
  const order: string[] = []
  const { evaluator } = counting()
  const ask = async (name: string, tenant_id: string, resources: readonly Resource[]) => {
    const decision = await decideAskInPieces(
      { ...sampleRuleSet([everything]), tenant_id },
      { ...sampleQuestion, resources },
      evaluator,
    )
    assert.equal(decision.allowed, true)
    order.push(name)
  }
  // So many that what does not wait is answered before the last, however long each piece takes on a busy machine.
  const length = 40
  const many = Array.from({ length }, (_, index) => ask(`many ${index}`, 'busy', kinds))
  await Promise.all([...many, ask('few', 'busy', kinds.slice(0, 1)), ask('other', 'quiet', kinds.slice(0, 15))])
  assert.ok(order.indexOf('few') < order.indexOf(`many ${length - 1}`), order.join())
  assert.ok(order.indexOf('other') < order.indexOf(`many ${length - 1}`), order.join())
  assert.deepEqual(
    order.filter((name) => name.startsWith('many')),
    Array.from({ length }, (_, index) => `many ${index}`),
  )
})

test('one more than a hundred that wait is refused with a 503', async () => {
  const ruleSet = { ...sampleRuleSet([]), tenant_id: 'crowded' }
  const answers = await Promise.allSettled(
    Array.from({ length: 102 }, () => decideApproveInPieces(ruleSet, { ...sampleApproval, targets: kinds })),
  )
  const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? answer.reason.code : []))
  assert.deepEqual(refused, ['unavailable'])
})
