import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../test/support/chance.ts'
import { testDatabase } from '../../../test/support/database.ts'
import { gainsStage } from '../../../test/support/gains-stage.ts'
import { newId } from '../../kernel/id.ts'
import type { Draft } from '../../policies/drafts/draft.ts'
import { applyDraft } from '../../policies/drafts/drafted.ts'
import type { Principal, RequestContext } from '../../policy-engine/cedar/question.ts'
import { decideAsk } from '../../policy-engine/deciding/decide.ts'
import { draftEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import type { RuleSet } from '../../policy-engine/deciding/rule-set.ts'
import { resourceUnder } from '../../policy-facts/resource.ts'
import { compareDraft, readDraft } from './compare-draft.ts'
import type { GainsChange } from './gains.ts'
import { readField } from './gains-store.ts'
import { changeOf, outcomeOf } from './tally.ts'

const testDb = await testDatabase()
const on = await (await gainsStage(testDb)).stage()
const tx = testDb.database.tenant(on.tenant_id)
const [ops, web] = [await on.group('Operations'), await on.group('Web')]
const author = await on.person('Author', { group: ops })
for (const [name, group] of Object.entries({ Ben: ops, Cleo: web, Dora: web, Emil: undefined, Finn: undefined }))
  await on.person(name, group === undefined ? {} : { group })
const unit = 'ou-ab12-12345678'
const accounts = [
  { id: '100000000001', name: 'shop', tags: { env: 'prod' }, organizational_unit_ids: [unit] },
  { id: '100000000002', name: 'bank', tags: { env: 'prod', team: 'web' }, organizational_unit_ids: [] },
  { id: '100000000003', name: 'play', tags: {}, organizational_unit_ids: [unit] },
  { id: '100000000004', name: 'lab', tags: {}, organizational_unit_ids: [] },
  { id: '100000000005', name: 'den', tags: {}, organizational_unit_ids: [] },
]
for (const [rank, { id, name, tags, organizational_unit_ids }] of accounts.entries())
  await on.account(name, id, { ...tags, organizational_unit_ids }, rank)

const principals = [
  'principal',
  `principal == User::"${author}"`,
  ...[ops, web].map((id) => `principal in Group::"${id}"`),
]
const actions = ['action', 'action == Action::"Read"', 'action in [Action::"Read", Action::"Write"]']
const resources = [
  'resource',
  'resource == cloud_account::"100000000002"',
  `resource in cloud_organizational_unit::"${unit}"`,
  'resource is cloud_storage_bucket',
]
const conditions = [
  ...[
    '',
    '',
    '',
    'when { resource.hasTag("env") }',
    'unless { resource.hasTag("team") && resource.getTag("team") == "web" }',
  ],
  ...[
    `when { principal in Group::"${web}" }`,
    `unless { principal == User::"${author}" }`,
    'when { principal.name like "?e*" }',
  ],
  ...['when { principal.name like "*e*" || resource.name == "lab" }', 'unless { action == Action::"Write" }'],
  ...['when { resource == cloud_account::"100000000005" }', 'when { context.duration_seconds < 3600 }'],
  ...[
    'when { context.weekday == 3 && context.minute < 90 }',
    'when { context.duration_seconds * 9223372036854775807 > 0 }',
  ],
  ...[`unless { principal.scopes.contains("x") || resource in cloud_organizational_unit::"${unit}" }`],
]
const modes = {
  permit: ['require', 'auto', 'auto', 'break_glass'],
  forbid: [undefined, 'auto', 'break_glass', undefined],
}

const anyRule = fc
  .record({
    effect: fc.constantFrom('permit' as const, 'permit' as const, 'forbid' as const),
    mode: fc.nat(3),
    scope: fc.tuple(fc.constantFrom(...principals), fc.constantFrom(...actions), fc.constantFrom(...resources)),
    condition: fc.constantFrom(...conditions),
    is_mine: fc.boolean(),
  })
  .map(({ effect, mode, scope, condition, is_mine }) => ({
    ...{ effect, is_mine, approval_mode: modes[effect][mode] as 'auto' | undefined },
    policy_text: `${effect} (${scope.join(', ')}) ${condition};`,
  }))

type Drawn = { effect: 'permit' | 'forbid'; is_mine: boolean; approval_mode: 'auto' | undefined; policy_text: string }
const policy_id = newId()

/** The rules that a tenant has, as drafts are compared with them. */
function presentOf(former: readonly Drawn[]) {
  const rules = former.map(({ effect, policy_text, approval_mode = null, is_mine }, ordinal) => ({
    ...{ id: newId(), policy_id, priority: 0, ordinal, effect, policy_text, approval_mode },
    ...{ notice: null, audit_session: false, saved_by: is_mine ? author : null },
  }))
  const policies = [{ id: policy_id, priority: 0, enabled: true }]
  return { tenant_id: on.tenant_id, version: '1', rules, policies, in_full: new Map() }
}

type Questions = { people: readonly Principal[]; actions: readonly string[]; when: Omit<RequestContext, 'break_glass'> }
type Changes = Record<string, { people: string[]; accounts: string[] }>

/** Every change, by asking both rule sets for each person, action and account. */
function askedOneByOne({ before, after }: Record<'before' | 'after', RuleSet>, asked: Questions): Changes {
  const found = new Map<string, { people: Set<string>; accounts: Set<string> }>()
  const ask = (
    principal: Principal,
    action: string,
    { id, ...seen }: (typeof accounts)[number],
    break_glass: boolean,
  ) => {
    const resources = [resourceUnder({ type: 'cloud_account', id }, undefined, seen)]
    const question = { principal, action, resources, context: { ...asked.when, break_glass } }
    const put = (ruleSet: RuleSet) => outcomeOf(decideAsk(ruleSet, question, draftEvaluator))
    const change = changeOf(put(before), put(after))
    if (change === undefined) return
    const key = JSON.stringify([action, change.kind, change.answer, break_glass])
    const { people, accounts } = found.get(key) ?? { people: new Set(), accounts: new Set() }
    found.set(key, { people: people.add(principal.name), accounts: accounts.add(id) })
  }
  for (const action of asked.actions)
    for (const principal of asked.people)
      for (const account of accounts)
        for (const break_glass of [false, true]) ask(principal, action, account, break_glass)
  const sorted = (names: Set<string>) => [...names].sort()
  return Object.fromEntries(
    [...found].map(([key, { people, accounts }]) => [key, { people: sorted(people), accounts: sorted(accounts) }]),
  )
}

function shown(changes: readonly GainsChange[]): Changes {
  return Object.fromEntries(
    changes.map(({ action, kind, answer, emergency, people, accounts }) => [
      JSON.stringify([action, kind, answer, emergency]),
      { people: people.names.map(({ name }) => name), accounts: accounts.names.map(({ id }) => id) },
    ]),
  )
}

test('the answer is that of every single request', async () => {
  const some = (maxLength: number) => fc.array(anyRule, { maxLength })
  await fc.assert(
    fc.asyncProperty(some(4), some(3), fc.array(fc.nat(3), { maxLength: 2 }), async (former, created, dropped) => {
      const present = presentOf(former)
      const gone = [...new Set(dropped)].flatMap((place) => present.rules[place]?.id ?? [])
      const draft: Draft = {
        changes: [
          ...gone.map((rule_id) => ({ delete_rule: { rule_id } })),
          ...created.map(({ policy_text, approval_mode }) => ({
            create_rule: { policy_id, rule: { policy_text, ...(approval_mode && { approval_mode }) } },
          })),
        ],
      }
      const of = { id: newId(), author, pointer: '/draft' }
      const wanted = await readDraft(present, draft, of)
      const { settings, ...field } = await readField(tx, wanted)
      const asked = { now: new Date('2026-01-05T12:34:56Z'), source_ip: '127.0.0.1', time_zone: 'Europe/Berlin' }
      const known = { ...field, literals: new Map(), asked: { ...asked, max_duration_seconds: 43_200 } }
      const { at, duration_seconds, changes } = await compareDraft(present, draft, of, known)
      const when = { ...asked, now: at, duration_seconds, has_reason: true, via: 'token' } as const
      const questions = { people: field.people.people, actions: wanted.actions, when }
      assert.deepEqual(shown(changes), askedOneByOne(await applyDraft(present, draft, of), questions))
    }),
    { numRuns: 15 },
  )
})
