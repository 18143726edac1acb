/** The templates of rules in the console: the service accepts each rule as it is, and the rule does what its sentence says. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { cedarOf } from '../../../console/src/rules/cedar-text.ts'
import { draftOf } from '../../../console/src/rules/draft.ts'
import { readTemplate } from '../../../console/src/rules/read-template.ts'
import {
  type RuleFields,
  ruleOf,
  type Slots,
  startingSlots,
  type Template,
  templates,
} from '../../../console/src/rules/templates.ts'
import type { Rule } from '../../src/policy-engine/rule.ts'
import { openHouse, type Person } from '../support/house.ts'

const house = await openHouse()
const { tenant_id, owner, people } = await house.tenant('Templates')
const { user: dana, approver: ben } = people

async function call<Body>(who: Person, method: string, url: string, body?: unknown): Promise<Body> {
  const reply = await house.call({ method, url, tenant_id, token: who.token, body })
  assert.ok(reply.status < 300, `${method} ${url}: ${reply.text}`)
  return reply.body as Body
}

const shop = '111122223333'
const play = '444455556666'
const oddTag = 'x" || true || "\\ ä'
const odd = '777788889999'
const databaseOf = (account: string) => `arn:aws:rds:eu-central-1:${account}:db:orders`

await call(owner, 'PUT', '/v1/cloud/accounts', {
  resources: [
    { id: 'shop', account_id: shop, name: 'shop', metadata: { env: 'production' } },
    { id: 'play', account_id: play, name: 'play', metadata: { env: 'development' } },
    { id: 'odd', account_id: odd, name: 'odd', metadata: { env: oddTag } },
  ],
})
const group = await call<{ id: string }>(owner, 'POST', '/v1/groups', { name: 'Developers' })
await call(owner, 'POST', `/v1/groups/${group.id}/members`, { user_id: dana.user_id })

/** Actions that a rule named before: the service remarks on the first use of one. */
const known = await call<{ id: string }>(owner, 'POST', '/v1/policies', { name: 'Known actions', enabled: false })
await call(owner, 'POST', `/v1/policies/${known.id}/rules`, {
  ...{ effect: 'permit', action_scope_type: 'in' },
  action_ids: ['ReadOnlyAccess', 'AdministratorAccess', 'read'],
})

const facts = { tags: ['development', 'production'], longest: 43_200 }
const slotsOf = (template: Template, more: Partial<Slots> = {}): Slots => ({
  ...startingSlots(template, facts),
  ...more,
})

/** Adds these rules, asserts that none has a warning, and removes them when `use` is done. */
async function withRules(
  rules: readonly RuleFields[],
  use: (made: readonly Rule[], policy: { id: string }) => Promise<unknown>,
) {
  const policy = await call<{ id: string }>(owner, 'POST', '/v1/policies', { name: 'Access' })
  try {
    const made: Rule[] = []
    for (const rule of rules) made.push(await call<Rule>(owner, 'POST', `/v1/policies/${policy.id}/rules`, rule))
    assert.deepEqual(
      made.map(({ warnings }) => warnings),
      rules.map(() => undefined),
    )
    await use(made, policy)
  } finally {
    await call(owner, 'DELETE', `/v1/policies/${policy.id}`)
  }
}

type Ask = { who?: Person; on?: string; type?: string; action?: string; seconds?: number; emergency?: boolean }
type Preview = { allowed: boolean; approval_mode: string | null; max_duration_seconds: number | null }

/** How a request would be answered: by which mode, or not at all. */
async function answerTo(ask: Ask): Promise<string> {
  const { who = dana, on = play, type = 'cloud_account', action = 'ReadOnlyAccess', seconds = 900 } = ask
  const { allowed, approval_mode } = await call<Preview>(who, 'POST', '/v1/requests/preview', {
    ...{ resource: { type, id: on }, action, duration_seconds: seconds, reason: 'a test' },
    ...(ask.emergency === true && { break_glass: true }),
  })
  return allowed ? String(approval_mode) : 'refused'
}

const atOnce = ruleOf('at_once', slotsOf('at_once'))
const administrator = 'AdministratorAccess'

suite('a rule of a template', () => {
  const cases: [sentence: string, rules: RuleFields[], answers: [Ask, string][]][] = [
    [
      'everyone may read on all accounts for at most 4 hours, at once',
      [atOnce],
      [
        [{}, 'auto'],
        [{ who: ben, on: shop }, 'auto'],
        [{ seconds: 14_400 }, 'auto'],
        [{ seconds: 14_401 }, 'refused'],
        [{ action: administrator }, 'refused'],
        [{ on: databaseOf(play), type: 'cloud_db_instance' }, 'refused'],
        // Nobody approves their own requests by a rule.
        [{ who: owner }, 'require'],
      ],
    ],
    [
      'a group may read on accounts of one tag',
      [
        ruleOf(
          'at_once',
          slotsOf('at_once', { who: { kind: 'group', id: group.id }, where: { kind: 'tag', value: 'development' } }),
        ),
      ],
      [
        [{}, 'auto'],
        [{ who: ben }, 'refused'],
        [{ on: shop }, 'refused'],
      ],
    ],
    [
      'a tag with quotes is that tag alone',
      [ruleOf('at_once', slotsOf('at_once', { where: { kind: 'tag', value: oddTag } }))],
      [
        [{ on: odd }, 'auto'],
        [{ on: play }, 'refused'],
        [{ on: shop }, 'refused'],
      ],
    ],
    [
      'production is reached only after one person approved, also by a rule that gives it at once',
      [atOnce, ruleOf('approval', slotsOf('approval'))],
      [
        [{ on: shop }, 'require'],
        [{ on: play }, 'auto'],
      ],
    ],
    ['an approval gives nobody access', [ruleOf('approval', slotsOf('approval'))], [[{ on: shop }, 'refused']]],
    [
      'what lies in the account needs an approval too, and an emergency does not',
      [
        { ...atOnce, resource_entity_type: 'cloud_db_instance' },
        ruleOf('approval', slotsOf('approval', { where: { kind: 'account', id: shop } })),
        ruleOf('emergency', slotsOf('emergency')),
      ],
      [
        [{ on: databaseOf(shop), type: 'cloud_db_instance' }, 'require'],
        [{ on: databaseOf(play), type: 'cloud_db_instance' }, 'auto'],
        [{ on: shop, action: administrator, emergency: true }, 'break_glass'],
      ],
    ],
    [
      'administrator rights for a role, for at most 1 hour, with an approval',
      [ruleOf('administrator', slotsOf('administrator', { who: { kind: 'role', id: 'approver' } }))],
      [
        [{ who: ben, action: administrator, seconds: 3_600 }, 'require'],
        [{ who: ben, action: administrator, seconds: 3_601 }, 'refused'],
        [{ action: administrator }, 'refused'],
      ],
    ],
    [
      'in an emergency, and only then, at once',
      [ruleOf('emergency', slotsOf('emergency', { where: { kind: 'account', id: shop } }))],
      [
        [{ on: shop, action: administrator, emergency: true }, 'break_glass'],
        [{ on: shop, action: administrator }, 'refused'],
        [{ on: play, action: administrator, emergency: true }, 'refused'],
        [{ on: shop, action: administrator, emergency: true, seconds: 3_601 }, 'refused'],
      ],
    ],
  ]
  for (const [sentence, rules, answers] of cases)
    test(sentence, () =>
      withRules(rules, async () => {
        for (const [ask, expected] of answers)
          assert.equal(await answerTo(ask), expected, JSON.stringify({ ...ask, who: ask.who?.user_id }))
      }),
    )
})

suite('databases in working hours', () => {
  const zone = 'Europe/Berlin'
  /** 13 November 2026 is a Friday; Berlin is an hour ahead of UTC. */
  const cases: [when: string, now: string, account: string, type: string, expected: 'permit' | 'forbid'][] = [
    ['on Friday at 9:00', '2026-11-13T08:00:00Z', shop, 'cloud_db_instance', 'permit'],
    ['on Friday at 8:59', '2026-11-13T07:59:59Z', shop, 'cloud_db_instance', 'forbid'],
    ['on Friday at 16:59', '2026-11-13T15:59:59Z', shop, 'cloud_db_instance', 'permit'],
    ['on Friday at 17:00', '2026-11-13T16:00:00Z', shop, 'cloud_db_instance', 'forbid'],
    ['on Saturday at noon', '2026-11-14T11:00:00Z', shop, 'cloud_db_instance', 'forbid'],
    ['on Monday at 9:00', '2026-11-16T08:00:00Z', shop, 'cloud_db_instance', 'permit'],
    ['on Monday, in another account', '2026-11-16T08:00:00Z', play, 'cloud_db_instance', 'forbid'],
    ['on Monday, for the account itself', '2026-11-16T08:00:00Z', shop, 'cloud_account', 'forbid'],
  ]
  const places: Partial<Slots>[] = [
    { where: { kind: 'account', id: shop } },
    { where: { kind: 'tag', value: 'production' } },
  ]
  for (const place of places)
    test(`of ${place.where?.kind === 'tag' ? 'accounts of one tag' : 'one account'}, by the clock of the organization`, () =>
      withRules([ruleOf('working_hours', slotsOf('working_hours', place))], async () => {
        const { passed, outcomes } = await call<{ passed: number; outcomes: { passed: boolean }[] }>(
          owner,
          'POST',
          '/v1/policies/test',
          {
            cases: cases.map(([when, now, account, type, expect]) => ({
              ...{ case: when, asks: 'read', expect, ...(expect === 'permit' && { mode: 'auto' }) },
              resource: {
                ...{ type, id: type === 'cloud_account' ? account : databaseOf(account) },
                tags: { env: account === shop ? 'production' : 'development' },
                ...(type !== 'cloud_account' && { in: [`cloud_account::${account}`] }),
              },
              context: { now, time_zone: zone, duration_seconds: 14_400 },
            })),
          },
        )
        assert.deepEqual(
          outcomes.filter((outcome) => !outcome.passed),
          [],
        )
        assert.equal(passed, cases.length)
      }))
})

suite('the rule that the service stores', () => {
  const places: Partial<Slots>[] = [
    {},
    { where: { kind: 'tag', value: oddTag }, who: { kind: 'group', id: group.id } },
    { where: { kind: 'account', id: shop }, who: { kind: 'role', id: 'approver' } },
  ]
  for (const template of templates)
    test(`is the sentence again, and the Cedar that was shown (${template})`, async () => {
      for (const more of places) {
        const slots = slotsOf(template, more)
        const rule = ruleOf(template, slots)
        await withRules([rule], async ([made]) => {
          assert.ok(made)
          const read = readTemplate(made)
          assert.equal(read?.template, template)
          assert.deepEqual(ruleOf(template, read.slots), rule)
        })
        // The text that the page shows, in place of the fields.
        await withRules([{ policy_text: cedarOf(rule) } as unknown as RuleFields], async ([made]) => {
          assert.ok(made)
          const read = readTemplate(made)
          assert.equal(read?.template, template, made.policy_text)
          assert.deepEqual(ruleOf(template, read.slots), rule)
        })
      }
    })
})

suite('who gains, before a rule is added', () => {
  type Gains = { changes: { kind: string; answer: string; emergency: boolean }[]; has_other_resources: boolean }
  const expected: Readonly<Record<Template, string[]>> = {
    at_once: ['gains at_once', 'gains by_approval'],
    approval: [],
    administrator: ['gains by_approval'],
    emergency: ['gains at_once in an emergency'],
    working_hours: [],
  }
  for (const template of templates)
    test(`${template}, in a new policy and in the one that is there`, () =>
      withRules([], async (_made, policy) => {
        for (const existing of [null, policy]) {
          const draft = draftOf(existing, ruleOf(template, slotsOf(template)))
          const gains = await call<Gains>(owner, 'POST', '/v1/policies/gains', { draft })
          const lines = gains.changes.map(
            ({ kind, answer, emergency }) => `${kind} ${answer}${emergency ? ' in an emergency' : ''}`,
          )
          assert.deepEqual(lines.sort(), expected[template])
          assert.equal(gains.has_other_resources, ['approval', 'working_hours'].includes(template))
        }
      }))
})
