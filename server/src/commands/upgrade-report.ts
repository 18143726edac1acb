/** The result of `replay-upgrade` as text for the operator. Pure. */
import { line, moment } from '../kernel/plain-words.ts'
import { differences } from '../policy-analysis/replay/replay.ts'
import type { ChangedByUpgrade, UpgradeReplay } from '../policy-analysis/replay/replay-upgrade.flow.ts'

export type TenantUpgrade = UpgradeReplay & { tenant_id: string; name: string }

/** So many changed questions of a tenant are printed. */
export const maxShown = 20

const maxReasoning = 500

/** What changes, tenant by tenant, and what the operator can do; one sentence where nothing changes. */
export function describeUpgrade(days: number, tenants: readonly TenantUpgrade[]): string {
  const questions = sum(tenants, ({ counts }) => counts.questions)
  const changed = sum(tenants, ({ counts }) => counts.changed)
  const limits = tenants.flatMap(limitsOf)
  const span = `the last ${days === 1 ? 'day' : `${days} days`}`
  if (questions === 0) return `no question to policy is recorded in ${span}, so there is nothing to compare`
  if (changed === 0) {
    const same = `nothing changes: this version decides each question of ${span} as the one before`
    return [`${same} (questions ${number(questions)})`, ...limits].join('\n')
  }
  const some = `${number(changed)} of ${number(questions)}`
  const heading = `this version decides ${some} recorded questions of ${span} differently`
  return [heading, ...tenants.map(describeTenant), ...limits, advice(tenants)].join('\n\n')
}

/** What the comparison of a tenant does not cover. */
function limitsOf({ name, has_more, counts: { questions, undecidable } }: TenantUpgrade): string[] {
  return [
    ...(has_more ? [`of “${name}” only the latest ${number(questions)} questions were compared`] : []),
    ...(undecidable > 0
      ? [`of “${name}” ${number(undecidable)} questions could not be evaluated, so nothing is known about them`]
      : []),
  ]
}

function describeTenant({ tenant_id, name, counts, changed }: TenantUpgrade): string {
  const heading = `${name}  ${tenant_id}\n  questions ${number(counts.questions)}, changed ${number(counts.changed)}`
  if (counts.changed === 0) return heading
  const kinds = differences.flatMap((kind) => (counts[kind] === 0 ? [] : `${kind} ${number(counts[kind])}`))
  const shown = changed.slice(0, maxShown)
  const more = counts.changed - shown.length
  return [
    `${heading}: ${kinds.join(', ')}`,
    ...shown.map(describeQuestion),
    ...(more > 0 ? [`  and ${number(more)} more; --json lists the first 1,000`] : []),
  ].join('\n')
}

function describeQuestion(one: ChangedByUpgrade): string {
  const requester = one.requester_email || one.requester_id
  const who = one.kind === 'ask' ? requester : `${one.approver_email || one.approver_id} deciding for ${requester}`
  const what = `${one.action} on ${one.resource.type} ${one.resource.id}`
  const how = `${answerOf(one.kind, one.before)} -> ${answerOf(one.kind, one.after)}`
  return [
    `  ${moment(one.decided_at)}  ${line(who)}  ${line(what, maxReasoning)}`,
    `    ${how}: ${line(one.after.reasoning, maxReasoning)}${rulesBehind(one.after.rule_ids)}`,
  ].join('\n')
}

/** A reasoning names no rule, but the operator looks for it. */
function rulesBehind(rule_ids: readonly string[]): string {
  const [first, ...others] = rule_ids
  if (first === undefined) return ''
  return ` (rule ${first}${others.length === 0 ? '' : ` and ${others.length} more`})`
}

const modes = {
  auto: 'approved at once',
  require: 'a person decides',
  break_glass: 'approved as an emergency',
} as const

function answerOf(kind: 'ask' | 'approve', answer: ChangedByUpgrade['before']): string {
  if (kind === 'approve') return answer.allowed ? 'may decide' : 'may not decide'
  if (answer.approval_mode === null) return 'denied'
  return `${modes[answer.approval_mode]}${answer.audit_session ? ', audited' : ''}`
}

/** What can be done about the changes, by what is known of the account. */
function advice(tenants: readonly TenantUpgrade[]): string {
  const of = (account: ChangedByUpgrade['account']) =>
    sum(tenants, ({ changed_by_account }) => changed_by_account[account])
  const means: [what: string, count: number, text: string][] = [
    [
      'no account is named',
      of('unnamed'),
      'have people name the account of a bucket or an instance in `metadata.account_id`, or write the rule so that ' +
        'it does not depend on the account',
    ],
    [
      'nothing confirms the named account',
      of('unconfirmed'),
      'adjust the rule; or, if people may say in which account a bucket or an instance lies, set ' +
        '`policies.trust_named_accounts` in the tenant right after the upgrade',
    ],
    [
      'the account is known, or does not matter',
      of('known'),
      'what lies in an account now has the tags of the account, and rules can read the entities that they name: ' +
        'adjust the rule whose id is given above',
    ],
  ]
  return [
    'Where a change is not wanted, act before the upgrade; after a change of rules, run this again:',
    ...means.flatMap(([what, count, text]) => (count === 0 ? [] : `- ${what} (${number(count)}): ${text}`)),
    'CHANGELOG.md lists what this version decides differently; docs/guides/policy-replay.md explains this list',
  ].join('\n')
}

function sum(tenants: readonly TenantUpgrade[], of: (tenant: TenantUpgrade) => number): number {
  return tenants.reduce((total, tenant) => total + of(tenant), 0)
}

function number(count: number): string {
  return count.toLocaleString('en')
}
