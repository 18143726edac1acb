import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { noCounts } from '../policy-analysis/replay/tally.ts'
import { describeUpgrade, maxShown, type TenantUpgrade } from './upgrade-report.ts'

const tenant_id = '01970000-0000-7000-8000-000000000001'
const denied = {
  ...{ allowed: false, approval_mode: null, audit_session: false, governing_rule_id: null, rule_ids: [] },
  reasoning: 'rule `x` forbids it',
}
const allowed = { ...denied, allowed: true, approval_mode: 'require' as const, reasoning: 'a rule permits it' }

type Changed = TenantUpgrade['changed'][number]
const question: Changed = {
  ...{ decision_id: 'd', request_id: null, kind: 'ask', decided_at: '2026-03-01T08:05:09.120Z' },
  ...{ requester_id: 'u', approver_id: null, duration_seconds: 60, break_glass: false },
  ...{ resource: { type: 'cloud_storage_bucket', id: 'logs' }, action: 'Read', account: 'unnamed' },
  ...{ differences: ['newly_denied'], requester_email: 'ada@example.com', approver_email: null },
  before: allowed,
  after: denied,
}

const tenant = (questions: number, changed: Changed[] = [], more: Partial<TenantUpgrade> = {}): TenantUpgrade => ({
  ...{ tenant_id, name: 'Acme', rule_set_version: '1', has_more: false, changed },
  counts: { ...noCounts(), questions, undecidable: 0, changed: changed.length, newly_denied: changed.length },
  changed_by_account: { known: 0, unnamed: changed.length, unconfirmed: 0 },
  ...more,
})

const lineOf = (one: Partial<Changed>) =>
  describeUpgrade(30, [tenant(1, [{ ...question, ...one }])])
    .split('\n')
    .slice(4, 6)

suite('what an upgrade changes', () => {
  const sentences: [what: string, days: number, tenants: TenantUpgrade[], text: string][] = [
    [
      'nothing, because nothing is recorded',
      1,
      [tenant(0)],
      'no question to policy is recorded in the last day, so there is nothing to compare',
    ],
    [
      'nothing',
      30,
      [tenant(1_200), tenant(34)],
      'nothing changes: this version decides each question of the last 30 days as the one before (questions 1,234)',
    ],
    [
      'nothing in the latest questions of a tenant that has more',
      30,
      [tenant(100_000, [], { has_more: true })],
      'nothing changes: this version decides each question of the last 30 days as the one before ' +
        '(questions 100,000)\n' +
        'of “Acme” only the latest 100,000 questions were compared',
    ],
    [
      'nothing as far as questions could be evaluated',
      1,
      [tenant(9, [], { counts: { ...noCounts(), questions: 9, undecidable: 2 } })],
      'nothing changes: this version decides each question of the last day as the one before (questions 9)\n' +
        'of “Acme” 2 questions could not be evaluated, so nothing is known about them',
    ],
  ]
  for (const [what, days, tenants, text] of sentences) {
    test(what, () => assert.equal(describeUpgrade(days, tenants), text))
  }

  test('is shown tenant by tenant, with what to do', () => {
    const counts = {
      ...noCounts(),
      questions: 1_000,
      undecidable: 0,
      changed: 3,
      newly_denied: 1,
      tightened: 2,
      audit_added: 1,
    }
    const some = tenant(0, [question], { counts, changed_by_account: { known: 1, unnamed: 1, unconfirmed: 1 } })
    const text = describeUpgrade(30, [some, tenant(7)])
    assert.match(text, /^this version decides 3 of 1,007 recorded questions of the last 30 days differently\n/)
    assert.match(
      text,
      /\nAcme {2}01970000-\S+\n {2}questions 1,000, changed 3: newly_denied 1, tightened 2, audit_added 1\n/,
    )
    assert.match(text, /\nAcme {2}01970000-\S+\n {2}questions 7, changed 0\n/)
    assert.match(text, /\n- no account is named \(1\): .*`metadata\.account_id`/)
    assert.match(text, /\n- nothing confirms the named account \(1\): .*`policies\.trust_named_accounts`/)
    assert.match(text, /\n- the account is known, or does not matter \(1\): what lies in an account now has the tags/)
    assert.match(text, /docs\/guides\/policy-replay\.md/)
    assert.doesNotMatch(describeUpgrade(30, [tenant(1, [question])]), /trust_named_accounts/)
  })

  test('is listed up to a maximum for each tenant', () => {
    const many = (count: number) =>
      describeUpgrade(30, [
        tenant(
          count,
          Array.from({ length: count }, () => question),
        ),
      ])
    assert.match(many(maxShown + 3), /\n {2}and 3 more; --json lists the first 1,000\n/)
    assert.doesNotMatch(many(maxShown), /more; --json/)
  })
})

suite('a changed question', () => {
  const rows: [what: string, one: Partial<Changed>, text: [string, string]][] = [
    [
      'has its moment, its requester, its access, both answers and the new reason',
      {},
      [
        '  2026-03-01 08:05 UTC  ada@example.com  Read on cloud_storage_bucket logs',
        '    a person decides -> denied: rule `x` forbids it',
      ],
    ],
    [
      'shows how it is approved, and whether it is audited',
      {
        before: { ...allowed, approval_mode: 'auto' },
        after: { ...allowed, approval_mode: 'break_glass', audit_session: true },
      },
      [
        '  2026-03-01 08:05 UTC  ada@example.com  Read on cloud_storage_bucket logs',
        '    approved at once -> approved as an emergency, audited: a rule permits it',
      ],
    ],
    [
      'about deciding names both people',
      { kind: 'approve', approver_id: 'v', approver_email: 'bob@example.com', before: denied, after: allowed },
      [
        '  2026-03-01 08:05 UTC  bob@example.com deciding for ada@example.com  Read on cloud_storage_bucket logs',
        '    may not decide -> may decide: a rule permits it',
      ],
    ],
    [
      'cannot forge the text around it',
      { action: 'Read\n\u202e\u001b[2J', after: { ...denied, reasoning: 'line\nother \u001b[31m' } },
      [
        '  2026-03-01 08:05 UTC  ada@example.com  Read [2J on cloud_storage_bucket logs',
        '    a person decides -> denied: line other  [31m',
      ],
    ],
  ]
  for (const [what, one, text] of rows) test(what, () => assert.deepEqual(lineOf(one), text))
})
