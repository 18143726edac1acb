import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { permitWhen } from '../../test/support/near-misses.ts'
import { sampleRule, sampleRuleSet } from '../../test/support/sample-rule.ts'
import type { AskQuestion, RequestContext } from '../policy-engine/cedar/question.ts'
import { sampleAccount, sampleQuestion } from '../policy-engine/cedar/samples.ts'
import { decideAsk } from '../policy-engine/deciding/decide.ts'
import { resourceIn } from '../policy-facts/resource.ts'
import { readSettingValues } from '../settings/setting.ts'
import type { EvaluatedRequest } from './evaluate-request.flow.ts'
import { explainAnswer } from './near-miss-explanation.flow.ts'

/** What a requester without any right to read is told about a denial: the message, then the near misses, word for word. */
type Asked = Partial<Omit<AskQuestion, 'context'>> & { context?: Partial<RequestContext> }

async function toldOf(
  rules: readonly string[],
  { context, ...other }: Asked,
  stored: Record<string, string> = {},
): Promise<string[]> {
  const ruleSet = sampleRuleSet(rules.map((text, index) => sampleRule(`secret-${index}`, text)))
  const question = { ...sampleQuestion, ...other, context: { ...sampleQuestion.context, ...context } }
  const decision = decideAsk(ruleSet, question)
  assert.equal(decision.allowed, false)
  const settings = readSettingValues(stored)
  const evaluated = { decision, question, ruleSet, settings, requested: {}, acts_in_named_account: true }
  const ctx = { tx: {}, actor: { scopes: new Set(['requests:create']) } }
  const { reasoning, nearest } = await explainAnswer(
    ctx as unknown as Parameters<typeof explainAnswer>[0],
    evaluated as unknown as EvaluatedRequest,
  )
  return [reasoning, ...nearest.map(({ words }) => words)]
}

const long = { duration_seconds: 28_800 }
const noReason = { has_reason: false }
const saturday = { now: new Date('2024-01-06T18:30:00Z'), time_zone: 'Europe/Berlin' }
const office = 'context.weekday <= 5 && context.minute >= 540 && context.minute < 1020'
const bucket = { type: 'cloud_storage_bucket', id: 'logs', name: 'logs', parents: [], as_if: 'unnamed' } as const
const isDev = 'resource.hasTag("env") && resource.getTag("env") == "dev"'
const everything = 'permit (principal, action, resource);'
const noRule = 'no rule permits `ReadOnlyAccess` on cloud_account `123456789012` (sample)'
const forbids = 'a rule forbids `ReadOnlyAccess` on cloud_account `123456789012` (sample)'
const whomToAsk = '; an administrator can tell you who may have this access'

const table: [what: string, rules: string[], asked: Asked, told: string[]][] = [
  ['the wrong team', ['permit (principal in Group::"sre", action, resource);'], {}, [`${noRule}${whomToAsk}`]],
  ['owners only', [permitWhen('principal.is_owner')], {}, [`${noRule}${whomToAsk}`]],
  ['no rule at all', [], {}, [`${noRule}${whomToAsk}`]],
  [
    'the wrong team at the weekend',
    [`permit (principal in Group::"sre", action, resource) when { ${office} };`],
    { context: saturday },
    [`${noRule}${whomToAsk}`],
  ],
  [
    'the weekend',
    [permitWhen(office)],
    { context: saturday },
    [noRule, 'a rule permits this from Monday 09:00 (Europe/Berlin); it is Saturday 19:30'],
  ],
  [
    'a forbid outside office hours',
    [everything, `forbid (principal, action, resource) unless { ${office} };`],
    { context: saturday },
    [forbids, 'from Monday 09:00 (Europe/Berlin) no rule forbids this; it is Saturday 19:30'],
  ],
  [
    'a forbid for more than an hour',
    [everything, 'forbid (principal, action, resource) when { context.duration_seconds > 3600 };'],
    { context: long },
    [forbids, 'for at most 1 hour no rule forbids this; you requested 8 hours'],
  ],
  [
    'a forbid with a notice that no request escapes',
    [everything, '@notice("Closed for the audit.") forbid (principal, action, resource);'],
    {},
    ['a rule (Closed for the audit.) forbids `ReadOnlyAccess` on cloud_account `123456789012` (sample)'],
  ],
  [
    'too long',
    [permitWhen('context.duration_seconds <= 14400')],
    { context: long },
    [noRule, 'a rule permits this for at most 4 hours; you requested 8 hours'],
  ],
  [
    'too long and without a reason',
    [permitWhen('context.duration_seconds <= 14400 && context.has_reason')],
    { context: { ...long, ...noReason } },
    [noRule, 'a rule permits this for at most 4 hours and with a reason; you requested 8 hours, and you gave none'],
  ],
  [
    'too long at the weekend',
    [permitWhen(`context.duration_seconds <= 14400 && ${office}`)],
    { context: { ...long, ...saturday } },
    [
      noRule,
      'a rule permits this for at most 4 hours and from Monday 09:00 (Europe/Berlin); you requested 8 hours, and it is Saturday 19:30',
    ],
  ],
  [
    'a typo in the action',
    ['permit (principal, action == Action::"ReadOnlyAccess", resource);'],
    { action: 'ReadOnlyAcess' },
    [
      'no rule permits `ReadOnlyAcess` on cloud_account `123456789012` (sample); did you mean `ReadOnlyAccess`?',
      'did you mean `ReadOnlyAccess`? a rule permits this; you requested `ReadOnlyAcess`',
    ],
  ],
  [
    'a typo in an action that only others may request',
    ['permit (principal in Group::"sre", action == Action::"ReadOnlyAccess", resource);'],
    { action: 'ReadOnlyAcess' },
    [`no rule permits \`ReadOnlyAcess\` on cloud_account \`123456789012\` (sample)${whomToAsk}`],
  ],
  [
    'an account that nobody knows',
    [permitWhen(isDev)],
    { resources: [resourceIn({ type: 'cloud_account', id: '999999999999' }, '999999999999', new Map())] },
    [
      `no rule permits \`ReadOnlyAccess\` on cloud_account \`999999999999\`; the account \`999999999999\` is not in the account cache${whomToAsk}`,
    ],
  ],
  [
    'a bucket whose account is not named',
    [permitWhen(isDev)],
    { resources: ['prod', 'dev'].map((env) => ({ ...bucket, tags: { env } })) },
    [
      'no rule permits `ReadOnlyAccess` on cloud_storage_bucket `logs` in an unknown account; name its account in `metadata.account_id`',
      'a rule permits this in some accounts; you named none in `metadata.account_id`',
    ],
  ],
  [
    'an emergency that nothing permits otherwise',
    ['@approval_mode("break_glass") permit (principal, action, resource);'],
    { resources: [sampleAccount] },
    [noRule, 'a rule approves this at once in an emergency; your request is not marked as one'],
  ],
]

suite('a requester is told of', () => {
  for (const [what, rules, asked, told] of table)
    test(what, async () => assert.deepEqual(await toldOf(rules, asked), told))

  test('nothing that a rule says of other people: all who lack it are told the same', async () => {
    const others = [
      'permit (principal in Group::"sre", action, resource);',
      'permit (principal in Role::"admin", action, resource);',
      'permit (principal == User::"eve", action, resource);',
      permitWhen('principal.email like "*@sre.example"'),
      permitWhen('resource.hasTag("team") && resource.getTag("team") == "sre"'),
    ]
    const none = await toldOf([], {})
    for (const rule of others) assert.deepEqual(await toldOf([rule], {}), none, rule)
  })
})

test('where every request needs a reason, nobody is told to give none', async () => {
  const rules = [permitWhen('!context.has_reason')]
  assert.equal((await toldOf(rules, {}, { 'requests.require_reason': 'false' })).length, 2)
  const told = await toldOf(rules, {}, { 'requests.require_reason': 'true' })
  assert.deepEqual(told, [`${noRule}${whomToAsk}`])
})
