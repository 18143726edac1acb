import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { operations } from '../src/operations.ts'
import type { PolicyCase } from '../src/policies/cases/case.ts'
import type { CaseOutcomes } from '../src/policies/cases/outcome.ts'
import { replacePolicyCases } from '../src/policies/cases/replace-policy-cases.ts'
import { testPolicies } from '../src/policy-analysis/test-policies.ts'
import type { RuleInput } from '../src/policy-engine/rule.ts'
import { testDatabase } from './support/database.ts'
import { policyTenants } from './support/policy-tenant.ts'
import { sliceServer } from './support/slice-server.ts'

/**
 * Policy verdicts as readable cases: each document of policy-cases/*.yaml is what a tenant would send to try a draft of its
 * rules, and is sent so.
 */
const testDb = await testDatabase()
const call = await sliceServer(testDb.database, { replacePolicyCases, testPolicies })
const admin = await policyTenants(testDb, call).newTenant()

const textOf = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

type Story = { about: string; draft: { policies: { rules: RuleInput[] }[] }; cases: PolicyCase[] }

function storiesOf(file: string): Story[] {
  return parseAllDocuments(textOf(`policy-cases/${file}`)).map((document) => {
    assert.deepEqual(document.errors, [], file)
    return document.toJS() as Story
  })
}

for (const file of readdirSync(new URL('policy-cases/', import.meta.url)).sort()) {
  suite(file, () => {
    for (const { about, ...body } of storiesOf(file))
      suite(about, async () => {
        const answer = await call(admin, 'POST', '/v1/policies/test', body)
        assert.equal(answer.status, 200, `${about}: ${JSON.stringify(answer.body)}`)
        const { outcomes } = answer.body as CaseOutcomes
        assert.ok(outcomes.length > 0)
        for (const { case: name, passed, expected, got } of outcomes)
          test(name, () => assert.ok(passed, JSON.stringify({ expected, got })))
      })
  })
}

/** The bodies that a guide sends, by the names that it gives them. */
function bodiesOf(guide: string, path: string): string[] {
  return [...textOf(`../../docs/guides/${guide}`).matchAll(/(?<path>\/v1\/\S+) -d \s*'(?<body>[^']*)'/g)]
    .filter(({ groups }) => groups?.path === path)
    .map(({ groups }) => groups?.body ?? '')
}

test('the rules of the-guide.yaml are those that the guide shows', () => {
  const shown = bodiesOf('policies.md', '/v1/policies/$POLICY/rules').map((body) =>
    JSON.stringify(plain(JSON.parse(body))),
  )
  for (const { draft } of storiesOf('the-guide.yaml').slice(0, 3))
    for (const rule of draft.policies.flatMap(({ rules }) => rules))
      assert.ok(shown.includes(JSON.stringify(plain(rule))), JSON.stringify(rule))
})

/** A form that ignores the order of fields and line breaks. */
function plain(rule: RuleInput): unknown {
  return Object.entries(rule)
    .map(([name, value]) => [name, typeof value === 'string' ? value.trim().replace(/\s+/g, ' ') : value])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
}

test('the examples of the guide about cases are accepted, and its required case passes', async () => {
  const [sent] = bodiesOf('policy-cases.md', '/v1/policies/cases')
  const kept = await call(admin, 'PUT', '/v1/policies/cases', JSON.parse(sent ?? ''))
  assert.deepEqual([kept.status, kept.body.failed], [200, 0], JSON.stringify(kept.body))
  const tries = bodiesOf('policy-cases.md', '/v1/policies/test')
  const failed = [0, 1, 0]
  assert.equal(tries.length, failed.length)
  for (const [index, body] of tries.entries()) {
    const answer = await call(admin, 'POST', '/v1/policies/test', JSON.parse(body))
    assert.deepEqual([answer.status, answer.body.failed], [200, failed[index]], JSON.stringify(answer.body))
  }
  const [, yaml] = /```yaml\n(.*?)```/s.exec(textOf('../../docs/guides/policy-cases.md')) ?? []
  const { status, body } = await call(admin, 'POST', '/v1/policies/test', { cases: parse(yaml ?? '') })
  assert.equal(status, 200, JSON.stringify(body))
})

test('every operation that changes policies checks the required cases, or has a reason here', () => {
  const free: Record<string, string> = {
    createPolicy: 'a new policy has no rules',
    reorderPolicies: 'order decides nothing',
    reorderRules: 'order decides nothing',
    replacePolicyCases: 'changes the cases, not the rules',
    describeAction: 'no rule reads a description',
    removeActionDescription: 'no rule reads a description',
  }
  const unheld = Object.entries(operations).filter(
    ([name, { scope, errors }]) => scope === 'policies:write' && !errors.includes('case_broken') && !(name in free),
  )
  assert.deepEqual(
    unheld.map(([name]) => name),
    [],
    'change the rules through `changeRules`, and declare `case_broken`',
  )
})
