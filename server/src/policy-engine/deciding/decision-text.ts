/** The text of a decision, for people. */

import type { Resource } from '../cedar/question.ts'
import type { ApprovalMode } from '../rule.ts'
import type { PolicyRule } from './rule-set.ts'
import type { Subject, Verdict } from './verdict.ts'

/** Denials that no rule can change. */
export const notOffered = {
  deactivated: 'the account is deactivated or suspended',
  approve: '`approve` cannot be requested: it is the action of deciding a request',
  nothing: 'the request names no resource',
  suspended: 'the operator suspended this tenant',
} as const

export const ownRequest = 'requesters cannot decide their own request'

/**
 * A rule in the text of a decision, which is stored and shown to people who may not read rules: by its notice, which is written for
 * them. Who may read rules is shown its name beside the text.
 */
function ruleWords(rule: PolicyRule | undefined, unnamed = 'a rule'): string {
  return rule?.notice ? `${unnamed} (${rule.notice})` : unnamed
}

export function resourceName({ type, id, name, as_if }: Resource): string {
  const known = name === '' || name === id ? '' : ` (${name})`
  return `${type} \`${id}\`${known}${as_if === undefined ? '' : ' in an unknown account'}`
}

/** What the requester can do where nobody knows the account of the resource. */
const accountAdvice = {
  unnamed: '; name its account in `metadata.account_id`',
  unconfirmed: '; nothing confirms the account that the request names',
} as const

/** One of the resources by name, and the number of others; one may have been evaluated with several actions. */
function resourceNames(verdicts: readonly Verdict[]): string {
  const [first, ...others] = new Set(verdicts.map(({ resource }) => resourceName(resource)))
  const more = others.length === 0 ? '' : ` (and on ${others.length} more)`
  return first === undefined ? '' : `${first}${more}`
}

/**
 * Why it is allowed. `heldBy` are the rules that turned `auto` into a person's decision; `where` are the resources on which they
 * did, if not on all.
 */
export function allowedText(
  mode: ApprovalMode | null,
  governing: PolicyRule | undefined,
  heldBy: PolicyRule[],
  where: readonly Verdict[],
): string {
  const rule = ruleWords(governing)
  if (mode === 'auto') return `approved at once by ${rule}`
  if (mode === 'break_glass') return `approved as an emergency by ${rule}`
  if (mode === null) return `${rule} permits deciding the request`
  const [holder] = heldBy
  const decides = where.length === 0 ? 'a person decides' : `a person decides on ${resourceNames(where)}`
  if (holder !== undefined) return `${rule} permits the request; by ${ruleWords(holder, 'another rule')} ${decides}`
  if (governing?.approval_mode === 'auto')
    return `${rule} would approve at once, but the requester saved it last: ${decides}`
  return `${rule} permits the request; ${decides}`
}

/**
 * What is denied: the first denied resource by name, and the number of others. `requested` is the resource that the request names.
 * INVARIANT: of an organizational unit, only readers of accounts are shown which accounts it has, and how many. Its requester names
 * the unit alone, and may have no access there.
 */
function deniedNames(denied: readonly Verdict[], requested: Resource, subject: Subject): string {
  const mayRead = subject.principal.scopes.includes('cloud_accounts:read')
  if (requested.type !== 'cloud_organizational_unit' || mayRead) return resourceNames(denied)
  const itself = denied.some(({ resource }) => resource === requested)
  return itself ? resourceName(requested) : `an account of ${resourceName(requested)}`
}

/** Why it is denied. */
export function deniedText(denied: Verdict[], requested: Resource, subject: Subject): string {
  const [first] = denied
  if (first === undefined) return 'denied'
  const { as_action, as_if, unknown_account } = first.resource
  const account = as_if === undefined ? '' : accountAdvice[as_if]
  const act = as_action === undefined ? subject.act : `\`${as_action}\``
  const what = `${act} on ${deniedNames(denied, requested, subject)}`
  const { forbids, failedForbids, fault } = first.answer
  if (fault !== undefined) return `${what} is denied, because the question could not be answered: ${fault}`
  if (forbids[0] !== undefined) return `${ruleWords(forbids[0])} forbids ${what}${account}`
  if (failedForbids[0] !== undefined)
    return `${ruleWords(failedForbids[0])} could not be evaluated, so it forbids ${what}${account}`
  const advice = subject.principal.scopes.includes('policies:write')
    ? '; to permit it, add a rule with `POST /v1/policies/{id}/rules`'
    : ''
  // Everybody may know that: the text names an account by its cached name, so that an unknown one could be told by its lack.
  const unknown =
    unknown_account === undefined ? '' : `; the account \`${unknown_account}\` is not in the account cache`
  return `no rule permits ${what}${subject.emergency ? ' in an emergency' : ''}${account}${unknown}${advice}`
}
