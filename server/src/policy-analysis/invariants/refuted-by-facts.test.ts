import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { evaluator, readRulesOf, ruleSetOf, searchBudget } from '../../../test/support/invariant-search.ts'
import { onlyApprovers } from './approvers.ts'
import type { Named } from './no-auto-approval.ts'

/** What depends on a fact of a person is not proved: some person has it, and some person lacks it. */
const prod: Named = { scope: { scope: 'in', type: 'cloud_organizational_unit', id: 'prod' }, tags: {} }

/** The result of the check that only administrators approve. */
async function onlyAdmins(texts: readonly string[]): Promise<string> {
  const ruleSet = ruleSetOf(texts)
  const means = { evaluator, budget: searchBudget() }
  const asked = { named: [prod], only: [{ type: 'Role', id: 'admin' } as const] }
  return (await onlyApprovers(ruleSet, await readRulesOf(ruleSet), { ...asked, ...means })).result
}

const permit = (conditions = '') => `permit(principal, action == Action::"approve", resource)${conditions};`
const forbid = (conditions: string) => `forbid(principal, action == Action::"approve", resource)${conditions};`

suite('that only these approve is refuted by a fact', () => {
  const manager = 'resource.requester has manager && resource.requester.manager == principal'
  const rows: [what: string, conditions: string][] = [
    ['the manager of the requester', ` when { ${manager} }`],
    [
      'their manager, tested as a path',
      ' when { resource has requester.manager && principal == resource.requester.manager }',
    ],
    ['everyone but the manager', ` unless { ${manager} }`],
    ['those of a department', ' when { principal has department && principal.department == "Finance" }'],
    ['those without a title', ' unless { principal has title }'],
    ['those of whom the title is known', ' when { principal has title }'],
    ['those whose manager is named', ' when { principal has manager && principal.manager == User::"boss" }'],
    [
      'requests of a department',
      ' when { resource.requester has department && resource.requester.department like "Fin*" }',
    ],
  ]
  for (const [what, conditions] of rows)
    test(`which permits ${what}`, async () => {
      assert.equal(await onlyAdmins([permit(conditions)]), 'counterexample')
    })

  test('which lifts the forbid', async () => {
    const texts = [permit(), forbid(` unless { principal in Role::"admin" || (${manager}) }`)]
    assert.equal(await onlyAdmins(texts), 'counterexample')
  })

  test('but proved where a fact is asked beside the role', async () => {
    assert.equal(await onlyAdmins([permit(` when { principal in Role::"admin" && ${manager} }`)]), 'proved')
  })
})
