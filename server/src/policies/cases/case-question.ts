/** A case as a policy question, built by the same typed code as every other question. */
import { readMoment } from '../../kernel/moment.ts'
import { readZone } from '../../kernel/time-zone.ts'
import type { LiteralFacts, Principal, RequestContext, Resource } from '../../policy-engine/cedar/question.ts'
import { type Decision, decideApprove, decideAsk } from '../../policy-engine/deciding/decide.ts'
import type { PolicyEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import type { RuleSet } from '../../policy-engine/deciding/rule-set.ts'
import type { CaseContext, CaseResource, Person, PolicyCase } from './case.ts'
import { readReference } from './reference.ts'

const requestId = '00000000-0000-4000-8000-000000000000'

/** The answer of these rules to a valid case. */
export function decideCase(
  ruleSet: RuleSet,
  one: PolicyCase,
  evaluator: PolicyEvaluator,
  literals: LiteralFacts = new Map(),
): Decision {
  const { who = {}, asks, approves = '', requester = {} } = one
  const context = contextOf(one.context ?? {})
  const resources = [one.resource, ...(one.touches ?? [])].map(resourceOf)
  if (asks !== undefined) {
    const principal = principalOf(who, 'somebody', ['requests:create'])
    return decideAsk(ruleSet, { principal, action: asks, resources, context, literals }, evaluator)
  }
  const { duration_seconds, break_glass } = context
  const request = {
    id: requestId,
    requester: principalOf(requester, 'requester', ['requests:create']),
    action: approves,
    duration_seconds,
    break_glass,
  }
  const principal = principalOf(who, 'somebody', ['requests:create', 'requests:approve'])
  return decideApprove(ruleSet, { principal, request, targets: resources, context, literals }, evaluator)
}

function principalOf(person: Person, byDefault: string, usual: readonly string[]): Principal {
  const { id = byDefault, active = true, auth_provider = 'local', is_owner = false, scopes = usual } = person
  // False, as for the local user that a case describes by default: a case that was kept before the attribute existed then also
  // has the safer answer.
  const { name = id, email = `${id}@example.com`, email_verified = false, groups = [], roles = [] } = person
  const { department, title, manager } = person
  return {
    ...{ id, email, email_verified, name, active, auth_provider, is_owner, scopes },
    ...{ group_ids: groups, role_ids: roles },
    ...(department !== undefined && { department }),
    ...(title !== undefined && { title }),
    ...(manager !== undefined && { manager }),
  }
}

function resourceOf({ type, id, name = '', tags = {}, in: containers = [] }: CaseResource): Resource {
  return { type, id, name, tags, parents: containers.flatMap((text) => readReference(text) ?? []) }
}

function contextOf(context: CaseContext): RequestContext {
  const { duration_seconds = 3_600, has_reason = true, break_glass = false } = context
  const { now = '2025-01-01T12:00:00Z', time_zone = 'UTC', via = 'token', source_ip = '192.0.2.1' } = context
  return {
    duration_seconds,
    has_reason,
    break_glass,
    // A case that an earlier version kept may have a date that is refused now.
    now: readMoment(now) ?? new Date(now),
    time_zone: readZone(time_zone) ?? time_zone,
    via,
    source_ip,
  }
}
