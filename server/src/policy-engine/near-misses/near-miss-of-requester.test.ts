import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  nearMisses,
  nearMissWords,
  type PartialQuestion,
  permitWhen,
  requester,
} from '../../../test/support/near-misses.ts'
import { sampleRule, sampleRuleSet } from '../../../test/support/sample-rule.ts'
import { selectShown } from '../../requests/near-miss-explanation.ts'
import { sampleQuestion } from '../cedar/samples.ts'
import { decideAsk } from '../deciding/decide.ts'
import { findNearMisses } from './near-miss.ts'
import { createPauser } from './pauser.ts'

/** Near misses of two things, of the action and of the account, as a requester without rights to read is shown them. */
const long = { duration_seconds: 28_800 }
const short = permitWhen('context.duration_seconds <= 14400')
const bucket = { type: 'cloud_storage_bucket', id: 'logs', name: 'logs', parents: [], as_if: 'unnamed' } as const
/** The bucket as if in each of two kinds of account. */
const inSomeAccount = ['prod', 'dev'].map((env) => ({ ...bucket, tags: { env } }))
const isDev = 'resource.hasTag("env") && resource.getTag("env") == "dev"'

for (const [what, rules, question, expected] of [
  [
    'two changes of one rule',
    [permitWhen('context.duration_seconds <= 14400 && context.has_reason')],
    { context: { ...long, has_reason: false } },
    ['a rule permits this for at most 4 hours and with a reason; you requested 8 hours, and you gave none'],
  ],
  [
    'a change for a permit and one for a forbid',
    [short, 'forbid (principal, action, resource) unless { context.has_reason };'],
    { context: { ...long, has_reason: false } },
    ['a rule permits this for at most 4 hours and with a reason; you requested 8 hours, and you gave none'],
  ],
  [
    'changes for two forbids',
    [
      'permit (principal, action, resource);',
      'forbid (principal, action, resource) when { context.duration_seconds > 3600 };',
      'forbid (principal, action, resource) unless { context.has_reason };',
    ],
    { context: { ...long, has_reason: false } },
    ['for at most 1 hour and with a reason no rule forbids this; you requested 8 hours, and you gave none'],
  ],
  [
    'no two changes where three are needed',
    [permitWhen('context.duration_seconds <= 14400 && context.has_reason && context.via == "api_key"')],
    { context: { ...long, has_reason: false } },
    [],
  ],
  [
    'no two changes where a third rule forbids what they give',
    [
      permitWhen('context.duration_seconds <= 14400 && context.has_reason'),
      'forbid (principal, action, resource) when { context.duration_seconds == 14400 };',
    ],
    { context: { ...long, has_reason: false } },
    [],
  ],
  [
    'the action that was probably meant',
    ['permit (principal, action == Action::"ReadOnlyAccess", resource);'],
    { action: 'ReadOnlyAcces' },
    ['did you mean `ReadOnlyAccess`? a rule permits this; you requested `ReadOnlyAcces`'],
  ],
  [
    'an action and one thing more',
    ['permit (principal, action == Action::"ReadOnlyAccess", resource) when { context.duration_seconds <= 14400 };'],
    { action: 'ReadOnlyAcces', context: long },
    [
      'did you mean `ReadOnlyAccess`? a rule permits this for at most 4 hours; you requested `ReadOnlyAcces`, and you requested 8 hours',
    ],
  ],
  [
    'no action that only others may request',
    ['permit (principal in Group::"sre", action == Action::"ReadOnlyAccess", resource);'],
    { action: 'ReadOnlyAcces' },
    [],
  ],
  [
    'no action that is forbidden',
    [
      'permit (principal, action == Action::"ReadOnlyAccess", resource);',
      'forbid (principal, action == Action::"ReadOnlyAccess", resource);',
    ],
    { action: 'ReadOnlyAcces' },
    [],
  ],
  [
    'no other action where another change is enough',
    [
      'permit (principal, action == Action::"ReadOnlyAcces", resource) when { context.duration_seconds <= 14400 };',
      'permit (principal, action == Action::"ReadOnlyAccess", resource);',
    ],
    { action: 'ReadOnlyAcces', context: long },
    ['a rule permits this for at most 4 hours; you requested 8 hours'],
  ],
  [
    'that an account is to be named, once and without its tags',
    [permitWhen(isDev)],
    { resources: inSomeAccount },
    ['a rule permits this in some accounts; you named none in `metadata.account_id`'],
  ],
  [
    'an account and one thing more',
    [permitWhen(`${isDev} && context.duration_seconds <= 14400`)],
    { resources: inSomeAccount, context: long },
    [
      'a rule permits this in some accounts and for at most 4 hours; you named none in `metadata.account_id`, and you requested 8 hours',
    ],
  ],
  [
    'no account where it is permitted in none',
    [permitWhen('resource.hasTag("env") && resource.getTag("env") == "test"')],
    { resources: inSomeAccount },
    [],
  ],
  [
    'a change in every account of which the resource may be',
    [short],
    { resources: inSomeAccount, context: long },
    ['a rule permits this for at most 4 hours; you requested 8 hours'],
  ],
  [
    'nothing about an account that the request names and nothing confirms',
    [permitWhen(isDev)],
    { resources: inSomeAccount.map((one) => ({ ...one, as_if: 'unconfirmed' as const })) },
    [],
  ],
] as [string, string[], PartialQuestion, string[]][]) {
  test(`shows a requester ${what}`, async () =>
    assert.deepEqual(await nearMissWords(rules, question, requester), expected))
}

test('tells only a requester whose word counts to name an account', async () => {
  const ignored = { ...requester, accountCounts: false }
  assert.deepEqual(await nearMissWords([permitWhen(isDev)], { resources: inSomeAccount }, ignored), [])
})

test('shows a reader of rules a tag of an unknown account without a value, and only where it is enough in every account', async () => {
  const rules = [
    'permit (principal, action, resource) when { resource.hasTag("gone") && resource.getTag("gone") == "x" };',
  ]
  assert.deepEqual(await nearMissWords(rules, { resources: inSomeAccount }), [
    'rule 1 of the policy “Accounts” permits this where the resource’s tag `gone` is "x"; that is not so in every account where it may be',
  ])
  // Its first kind of account would do, the other not.
  const onlyDev = [...rules, 'forbid (principal, action, resource) unless { resource.getTag("env") == "dev" };']
  assert.deepEqual(await nearMissWords(onlyDev, { resources: inSomeAccount.toReversed() }), [])
})

test('hides from a requester every condition that a wider search finds', async () => {
  const ruleSet = sampleRuleSet([
    sampleRule('both', permitWhen('context.duration_seconds <= 600 && resource.getTag("env") == "prod"')),
  ])
  const bounds = { shortest: 60, longest: 604_800 }
  const asked = { ruleSet, question: sampleQuestion, decision: decideAsk(ruleSet, sampleQuestion), bounds }
  const pauser = createPauser(Number.POSITIVE_INFINITY)
  const found = await findNearMisses({ ...asked, accountCounts: true }, false, pauser)
  assert.equal(found.length, 1)
  assert.deepEqual(selectShown(found, { question: sampleQuestion, bounds, viewer: requester }), [])
})

test('tells a requester of a nearest action without telling whether rules name the requested one', async () => {
  const rules = ['permit (principal, action == Action::"ReadOnlyAccess", resource);']
  const ofOthers = [...rules, 'permit (principal in Group::"sre", action == Action::"ReadOnlyAcces", resource);']
  const asked = { action: 'ReadOnlyAcces' }
  const told = await nearMisses(rules, asked, requester)
  assert.deepEqual([told.length, await nearMisses(ofOthers, asked, requester)], [1, told])
  assert.deepEqual(await nearMissWords(ofOthers, asked), [
    'rule 1 of the policy “Accounts” permits this to members of the group `sre`; you are not',
    'rule 1 of the policy “Accounts” permits this for the action `ReadOnlyAccess`; you requested `ReadOnlyAcces`',
  ])
})
