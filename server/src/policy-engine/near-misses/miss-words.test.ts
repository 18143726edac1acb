import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  nearMisses,
  nearMissWords,
  type PartialQuestion,
  permitWhen,
  requester,
} from '../../../test/support/near-misses.ts'
import { sampleQuestion } from '../cedar/samples.ts'

/** The text of a near-miss explanation, by the rule's condition or scope. */
const long = { duration_seconds: 28_800 }
const saturday = { now: new Date('2024-01-06T18:30:00Z') }

/** One permit with one condition that does not hold: the text after "… permits this". */
const table: [condition: string, question: PartialQuestion, wanted: string, given: string, kind: string][] = [
  [
    'context.duration_seconds <= 14400',
    { context: long },
    'for at most 4 hours',
    'you requested 8 hours',
    'duration_seconds',
  ],
  [
    '14400 > context.duration_seconds',
    { context: long },
    'for at most 3 hours 59 minutes 59 seconds',
    'you requested 8 hours',
    'duration_seconds',
  ],
  ['context.duration_seconds >= 7200', {}, 'for at least 2 hours', 'you requested 1 hour', 'duration_seconds'],
  [
    'context.duration_seconds >= 7200 && context.duration_seconds <= 14400',
    {},
    'for 2 hours to 4 hours',
    'you requested 1 hour',
    'duration_seconds',
  ],
  ['context.duration_seconds == 1800', {}, 'for exactly 30 minutes', 'you requested 1 hour', 'duration_seconds'],
  ['context.has_reason', { context: { has_reason: false } }, 'with a reason', 'you gave none', 'has_reason'],
  ['!context.has_reason', {}, 'without a reason', 'you gave one', 'has_reason'],
  [
    'context.via == "token"',
    { context: { via: 'api_key' } },
    'with a token',
    'you made the request with an API key',
    'via',
  ],
  ['context.weekday <= 5', { context: saturday }, 'from Monday 00:00 (UTC)', 'it is Saturday 18:30', 'weekday'],
  [
    '[6, 7, 1].contains(context.weekday)',
    { context: { now: new Date('2024-01-02T12:00:00Z') } },
    'from Saturday 00:00 (UTC)',
    'it is Tuesday 12:00',
    'weekday',
  ],
  ['context.weekday == 3 || context.weekday == 5', {}, 'from Wednesday 00:00 (UTC)', 'it is Monday 12:00', 'weekday'],
  [
    'context.minute >= 540 && context.minute < 1020',
    { context: saturday },
    'from Sunday 09:00 (UTC)',
    'it is Saturday 18:30',
    'minute',
  ],
  ['context.minute >= 1320 || context.minute < 360', {}, 'from Monday 22:00 (UTC)', 'it is Monday 12:00', 'minute'],
  [
    'context.now >= datetime("2024-02-01T10:00:00+0200")',
    {},
    'from Thursday 2024-02-01 08:00 (UTC)',
    'it is Monday 12:00',
    'now',
  ],
  [
    'context.source_ip.isInRange(ip("10.0.0.0/8"))',
    {},
    'from another address: it names `10.0.0.0/8`',
    'your address is 192.0.2.1',
    'source_ip',
  ],
  [
    '!context.source_ip.isInRange(ip("192.0.2.0/24"))',
    {},
    'from another address: it names `192.0.2.0/24`',
    'your address is 192.0.2.1',
    'source_ip',
  ],
  [
    'resource.hasTag("env") && resource.getTag("env") == "prod"',
    {},
    'where the resource’s tag `env` is "prod"',
    'it is "dev"',
    'tag',
  ],
  [
    'resource.hasTag("tier") && resource.getTag("tier") == "1"',
    {},
    'where the resource’s tag `tier` is "1"',
    'it has none',
    'tag',
  ],
  [
    '["a", "b"].contains(resource.getTag("env"))',
    {},
    'where the resource’s tag `env` is "a" or "b"',
    'it is "dev"',
    'tag',
  ],
  [
    '!(resource.hasTag("env") && resource.getTag("env") == "dev")',
    {},
    'where the resource’s tag `env` is not "dev"',
    'it is "dev"',
    'tag',
  ],
  ['resource.getTag("env") like "prod*"', {}, 'where the resource’s tag `env` is like "prod*"', 'it is "dev"', 'tag'],
  ['resource.hasTag("tier")', {}, 'where the resource has a tag `tier`', 'it has none', 'tag'],
  ['resource.name == "shop"', {}, 'where the resource’s name is "shop"', 'it is "sample"', 'name'],
  ['principal.is_owner', {}, 'where your `is_owner` is true', 'it is false', 'principal'],
  ['principal.email_verified', {}, 'to users whose e-mail address is verified', 'yours is not', 'principal'],
  [
    'principal has department && principal.department == "Finance"',
    { principal: { ...sampleQuestion.principal, department: 'Sales' } },
    'where your department is "Finance"',
    'it is "Sales"',
    'principal',
  ],
  [
    'principal has department && ["Finance", "Audit"].contains(principal.department)',
    {},
    'where your department is "Finance" or "Audit"',
    'it is not known',
    'principal',
  ],
  ['principal has title', {}, 'to users whose job title is known', 'yours is not known', 'principal'],
  [
    '!(principal has manager)',
    { principal: { ...sampleQuestion.principal, manager: 'eve' } },
    'to users whose manager is not known',
    'yours is known',
    'principal',
  ],
  [
    'principal has manager && principal.manager == User::"grace"',
    { principal: { ...sampleQuestion.principal, manager: 'eve' } },
    'to users whose manager is the user `grace`',
    'yours is not',
    'principal',
  ],
  [
    'principal.email like "*@example.com" && principal.email_verified == true',
    {},
    'to users whose e-mail address is verified',
    'yours is not',
    'principal',
  ],
  [
    '!principal.email_verified',
    { principal: { ...sampleQuestion.principal, email_verified: true } },
    'to users whose e-mail address is not verified',
    'yours is',
    'principal',
  ],
  [
    'principal.email_verified == false',
    { principal: { ...sampleQuestion.principal, email_verified: true } },
    'to users whose e-mail address is not verified',
    'yours is',
    'principal',
  ],
  [
    'principal.email like "*@example.org"',
    {},
    'where your `email` is like "*@example.org"',
    'it is "ada@example.com"',
    'principal',
  ],
  [
    'principal.scopes.contains("audit:read")',
    {},
    'to users who hold the scope `audit:read`',
    'you do not',
    'principal',
  ],
  ['principal in Group::"sre"', {}, 'to members of the group `sre`', 'you are not', 'principal'],
  ['principal in Group::"0b5e"', {}, 'to members of the group “Databases”', 'you are not', 'principal'],
  [
    'principal in [Role::"admin", User::"eve"]',
    {},
    'to holders of the role `admin` or to the user `eve`',
    'you are not',
    'principal',
  ],
  ['action == Action::"List"', {}, 'for the action `List`', 'you requested `ReadOnlyAccess`', 'action'],
  [
    'resource in cloud_organizational_unit::"ou-ab12-00000000"',
    {},
    'in cloud_organizational_unit `ou-ab12-00000000`',
    'you requested cloud_account `123456789012`',
    'resource',
  ],
  [
    'resource is cloud_storage_bucket',
    {},
    'on each cloud_storage_bucket',
    'you requested cloud_account `123456789012`',
    'resource',
  ],
  [
    'context.duration_seconds * 2 < 3600',
    {},
    'when { (context.duration_seconds * 2) < 3600 }',
    'that is not so',
    'condition',
  ],
]
for (const [condition, question, wanted, given, kind] of table) {
  test(`\`${condition}\`: ${wanted}`, async () => {
    const [miss, ...others] = await nearMisses([permitWhen(condition)], question)
    assert.deepEqual(
      [miss?.words, miss?.wanted, miss?.given, miss?.kind],
      [`rule 1 of the policy “Accounts” permits this ${wanted}; ${given}`, wanted, given, kind],
    )
    assert.deepEqual([others, miss?.rule_id, miss?.policy_name, miss?.approval_mode], [[], 'r1', 'Accounts', 'require'])
  })
}

/** One permit whose scope does not match in one part. */
for (const [scope, wanted, given] of [
  ['principal in Group::"sre", action, resource', 'to members of the group `sre`', 'you are not'],
  ['principal == User::"eve", action, resource', 'to the user `eve`', 'you are not'],
  ['principal is User in Role::"admin", action, resource', 'to holders of the role `admin`', 'you are not'],
  ['principal, action == Action::"List", resource', 'for the action `List`', 'you requested `ReadOnlyAccess`'],
  [
    'principal, action in [Action::"List", Action::"Get"], resource',
    'for the action `List` or `Get`',
    'you requested `ReadOnlyAccess`',
  ],
  [
    'principal, action, resource == cloud_account::"1"',
    'on cloud_account `1`',
    'you requested cloud_account `123456789012`',
  ],
  [
    'principal, action, resource is cloud_account in cloud_organizational_unit::"ou-1"',
    'on each cloud_account in cloud_organizational_unit `ou-1`',
    'you requested cloud_account `123456789012`',
  ],
] as const) {
  test(`permit (${scope}): ${wanted}`, async () => {
    assert.deepEqual(await nearMissWords([`permit (${scope}) when { context.has_reason };`]), [
      `rule 1 of the policy “Accounts” permits this ${wanted}; ${given}`,
    ])
    assert.deepEqual(await nearMissWords([`permit (${scope}) when { !context.has_reason };`]), [
      `rule 1 of the policy “Accounts” permits this without a reason and ${wanted}; you gave one, and ${given}`,
    ])
    assert.deepEqual(await nearMissWords([`permit (${scope});`], {}, requester), [])
  })
}
