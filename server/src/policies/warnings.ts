/**
 * Effects of a rule that its author may not have intended. A warning states only what is certain from the rules themselves and from
 * the tenant's data.
 */

import type { Clause, Expr } from '../policy-engine/cedar/engine.ts'
import { attributeOf, formOf } from '../policy-engine/cedar/expression.ts'
import { parseStatement } from '../policy-engine/cedar/parse.ts'
import { findActionFault, findIdFault } from '../policy-engine/cedar/reference-faults.ts'
import { type AskedType, approveAction, askedTypes } from '../policy-engine/cedar/schema.ts'
import { covers, type Scope, type ScopeFields, scopeFromFields } from '../policy-engine/cedar/scope.ts'
import type { StatementFields } from '../policy-engine/cedar/statement.ts'
import { ruleSetsOf } from '../policy-engine/cedar/validate.ts'
import { nearestName } from '../policy-engine/nearest-name.ts'
import type { ApprovalMode, Effect } from '../policy-engine/rule.ts'
import { unverifiedAddresses } from './unverified-address.ts'

/** For calls of these functions beside the main thread. */
export const warningsModule = import.meta.url

/** Another rule of the tenant's enabled policies, as stored. */
export type NeighbourRule = { [Field in keyof ScopeFields]: ScopeFields[Field] | null } & {
  id: string
  effect: Effect
  conditions?: string | null
  approval_mode?: ApprovalMode | null
}

/** A principal that a rule names and the tenant does not have; `is_name`: one of that type has this id as its name. */
export type MissingPrincipal = { type: string; id: string; is_name: boolean }

export type WarningFacts = {
  rule: StatementFields
  /** The engine's warnings, from `RuleStatement`. */
  engine_warnings: readonly string[]
  /** The other rules, without the one that is replaced. */
  others: readonly NeighbourRule[]
  /** Action ids that a rule, a request or a cached permission set has used. */
  known_actions: readonly string[]
  /** The principal of the scope, where the tenant does not have it. */
  missing?: MissingPrincipal | undefined
}

/** The warnings of a rule, the most serious first. */
export function warningsFor(facts: WarningFacts): string[] {
  const { rule, others } = facts
  const scope = scopeFromFields(rule)
  const clauses = rule.conditions === undefined ? [] : parseStatement(rule.policy_text).conditions
  return [
    ...facts.engine_warnings,
    ...impossibleConditions(rule, scope, clauses),
    ...impossibleRequests(scope),
    ...missingPrincipals(facts.missing),
    ...shadowed(rule, scope, others),
    ...repeats(rule, scope, others),
    ...unverifiedAddresses(rule.effect, clauses),
    ...approvesEverything(rule, scope),
    ...emergencyOnly(rule),
    ...overlaps(rule, scope, others),
    ...unknownActions(scope, facts.known_actions),
  ]
}

/** By rule, since each of many imported rules is compared with the same others. */
const scopes = new WeakMap<NeighbourRule, Scope>()

function scopeOf(rule: NeighbourRule): Scope {
  const known = scopes.get(rule)
  if (known !== undefined) return known
  const scope = scopeFromFields(plain(rule))
  scopes.set(rule, scope)
  return scope
}

type Sided = { effect: Effect; conditions?: string | null; approval_mode?: ApprovalMode | null }

const unconditional = (rule: Sided) => (rule.conditions ?? '').trim() === ''
const isAuto = (rule: Sided) => rule.effect === 'permit' && rule.approval_mode === 'auto'
const needsApproval = (rule: Sided) => rule.effect === 'permit' && (rule.approval_mode ?? 'require') === 'require'
/** Every principal of a question is a `User`, so that type alone restricts nothing. */
const anyPrincipal = (scope: Scope) =>
  scope.principal.scope === 'any' || (scope.principal.scope === 'is' && scope.principal.type === 'User')

function approvesEverything(rule: Sided, scope: Scope): string[] {
  const everything = anyPrincipal(scope) && scope.action.scope === 'any' && scope.resource.scope === 'any'
  return isAuto(rule) && everything && unconditional(rule)
    ? ['this rule approves every request of every user at once, unless a forbid prevents it']
    : []
}

function emergencyOnly(rule: Sided): string[] {
  return rule.effect === 'forbid' && rule.approval_mode === 'break_glass'
    ? ['this forbid refuses only emergency requests: ordinary requests stay as before']
    : []
}

/** What remains of a permit under a forbid without conditions whose scope covers the permit's. */
function shadowed(rule: Sided, scope: Scope, others: readonly NeighbourRule[]): string[] {
  if (rule.effect !== 'permit') return []
  const forbids = others.filter(
    (other) => other.effect === 'forbid' && unconditional(other) && covers(scopeOf(other), scope),
  )
  const closes = (mode: ApprovalMode) => forbids.find((other) => other.approval_mode === mode)
  const wholly =
    forbids.find((other) => !other.approval_mode) ??
    (rule.approval_mode === 'break_glass' ? closes('break_glass') : undefined)
  if (wholly !== undefined) return [`this permit has no effect: rule \`${wholly.id}\` forbids everything in its scope`]
  const held = isAuto(rule) ? closes('auto') : undefined
  return held === undefined
    ? []
    : [`this permit approves nothing at once: rule \`${held.id}\` requires a person’s decision`]
}

/**
 * A rule that is covered by another of its kind, and has no notice or session audit of its own, decides nothing. An `auto` permit is
 * an exception: it still counts for the user who saved the other rule.
 */
function repeats(rule: StatementFields, scope: Scope, others: readonly NeighbourRule[]): string[] {
  if (isAuto(rule) || rule.audit_session || rule.notice !== undefined) return []
  const same = others.find(
    (other) =>
      other.effect === rule.effect &&
      (other.approval_mode ?? undefined) === rule.approval_mode &&
      unconditional(other) &&
      covers(scopeOf(other), scope),
  )
  return same === undefined ? [] : [`this rule decides nothing: rule \`${same.id}\` already covers it`]
}

/** The kinds of question, emergency or not, in which a rule about requests never takes part. */
function impossibleConditions(rule: Sided, scope: Scope, clauses: readonly Clause[]): string[] {
  if (ruleSetsOf(scope.action).includes('approve')) return []
  const emergency = rule.approval_mode === 'break_glass'
  // A plain forbid takes part in every question.
  if (!emergency && rule.effect === 'forbid' && rule.approval_mode !== 'auto') return []
  const impossible = clauses.some(({ kind, body }) => truthOf(body as Expr, emergency) === (kind === 'unless'))
  if (!impossible) return []
  return emergency
    ? ['this rule can never match: its mode applies only to emergencies, and its conditions exclude them']
    : ['this rule can never match: its mode never applies to an emergency, and its conditions require one']
}

/** Whether a condition is certainly true or certainly false for this value of `context.break_glass`. */
function truthOf(expression: Expr, breakGlass: boolean): boolean | undefined {
  const { operator, operands } = formOf(expression)
  const of = (operand: Expr | undefined) => (operand === undefined ? undefined : truthOf(operand, breakGlass))
  switch (operator) {
    case 'Value': {
      const value = 'Value' in expression ? (expression.Value as unknown) : undefined
      return typeof value === 'boolean' ? value : undefined
    }
    case '.':
      return attributeOf(expression, 'context') === 'break_glass' ? breakGlass : undefined
    case '!': {
      const inner = of(operands.arg)
      return inner === undefined ? undefined : !inner
    }
    case '&&':
    case '||': {
      // Each side is visited once: twice on each level would be 2^60 visits at a rule's maximum depth.
      const [left, right] = [of(operands.left), of(operands.right)]
      const settling = operator === '||'
      if (left === settling || right === settling) return settling
      return left === undefined || right === undefined ? undefined : !settling
    }
    default:
      return undefined
  }
}

/** Ids and actions that no request can have, however they are written: a digit too few, a space at the end. */
function impossibleRequests({ action, resource }: Scope): string[] {
  const found: string[] = []
  if (resource.scope === 'eq' && isAskedType(resource.type)) {
    const why = findIdFault({ type: resource.type, id: resource.id })
    if (why !== undefined) found.push(`this rule can never match: \`${resource.id}\` ${why}`)
  }
  for (const id of action.ids) {
    const why = id === approveAction ? undefined : findActionFault(id)
    if (why !== undefined) found.push(`the action \`${id}\` cannot be requested: it ${why}`)
  }
  return found
}

function isAskedType(type: string): type is AskedType {
  return (askedTypes as readonly string[]).includes(type)
}

function missingPrincipals(missing: MissingPrincipal | undefined): string[] {
  if (missing === undefined) return []
  const { type, id, is_name } = missing
  const kind = type.toLowerCase()
  const advice = is_name ? `; a ${kind} has that name: use its id instead` : ''
  return [`this rule matches no user: no ${kind} of the tenant has the id \`${id}\`${advice}`]
}

function overlaps(rule: Sided, scope: Scope, others: readonly NeighbourRule[]): string[] {
  if (ruleSetsOf(scope.action).includes('approve')) return []
  const rival = isAuto(rule) ? needsApproval : needsApproval(rule) ? isAuto : () => false
  const found: string[] = []
  for (const other of others.filter(rival)) {
    const otherScope = scopeOf(other)
    if (ruleSetsOf(otherScope.action).includes('approve')) continue
    const [here, there] = [
      { rule, scope },
      { rule: other, scope: otherScope },
    ]
    if (isAuto(rule) ? isNarrower(there, here) : isNarrower(here, there)) found.push(other.id)
  }
  if (found.length === 0) return []
  const named = found.slice(0, namedAtMost).map((id) => `\`${id}\``)
  const more = found.length > namedAtMost ? ` and ${found.length - namedAtMost} more` : ''
  const who = isAuto(rule)
    ? `where this rule and narrower ones (${named.join(', ')}${more}) match, this one approves without a person`
    : `where this rule and wider ones (${named.join(', ')}${more}) match, those approve without a person`
  return [`${who}; to require a person’s decision, add a forbid with the approval mode \`auto\``]
}

const namedAtMost = 5

type Placed = { rule: Sided; scope: Scope }

/** Within the other's scope, and either with a smaller scope or with conditions where the other has none. */
function isNarrower(narrow: Placed, wide: Placed): boolean {
  if (!covers(wide.scope, narrow.scope)) return false
  return !covers(narrow.scope, wide.scope) || (unconditional(wide.rule) && !unconditional(narrow.rule))
}

function unknownActions(scope: Scope, known: readonly string[]): string[] {
  return scope.action.ids
    .filter((id) => id !== approveAction && !known.includes(id))
    .map((id) => {
      const nearest = nearestName(id, known)
      const advice = nearest === undefined ? '' : `; the nearest known is \`${nearest}\``
      return `no rule, request or permission set has used the action \`${id}\` before${advice}`
    })
}

/** A stored row may have null for an absent field. */
function plain(rule: NeighbourRule): ScopeFields {
  const fields = Object.entries(rule).filter(
    ([key, value]) => value !== null && /_(scope_type|entity_type|entity_id|ids)$/.test(key),
  )
  return Object.fromEntries(fields) as unknown as ScopeFields
}
