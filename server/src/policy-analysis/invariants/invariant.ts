/** Invariants of a rule set, as they are requested and as the API returns them. */
import { type Static, Type } from 'typebox'
import { Body, Nullable, OneOf, Uuid } from '../../http/schema.ts'
import { type FaultyField, invalidInput } from '../../kernel/errors.ts'
import { Draft } from '../../policies/drafts/draft.ts'
import type { Principal } from '../../policy-engine/cedar/question.ts'
import { askedTypes, principalTypes } from '../../policy-engine/cedar/schema.ts'
import { scopeFromFields } from '../../policy-engine/cedar/scope.ts'
import type { Decision } from '../../policy-engine/deciding/decide.ts'
import { approvalModes, entityScopeTypes } from '../../policy-engine/rule.ts'
import type { Named } from './no-auto-approval.ts'
import type { Counterexample, Outcome } from './outcome.ts'

const Tags = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string', maxLength: 2_048 },
  maxProperties: 10,
  description: 'Tags that all the resources have.',
})

const NamedResources = Body({
  scope_type: Type.Enum([...entityScopeTypes], { description: 'As `resource_scope_type` of a rule.' }),
  entity_type: Type.Optional(Type.String({ maxLength: 128 })),
  entity_id: Type.Optional(Type.String({ maxLength: 2_048 })),
  tags: Type.Optional(Tags),
})
type NamedResources = Static<typeof NamedResources>

const Member = Body({
  type: Type.Enum([...principalTypes]),
  id: Type.String({ minLength: 1, maxLength: 256, description: 'The id as in rules: `Group::"<id>"`.' }),
})

const Check = Type.Object(
  {
    no_auto_approval: Type.Optional(
      Body({
        resources: Type.Array(NamedResources, {
          minItems: 1,
          maxItems: 20,
          description:
            'No request in any of them is approved without a person, neither by `auto` nor by `break_glass`.',
        }),
      }),
    ),
    permits_nothing_new: Type.Optional(
      Type.Boolean({
        const: true,
        description: 'The draft permits nothing that the current rules do not: no request, and nobody to decide one.',
      }),
    ),
    approvers: Type.Optional(
      Body({
        resources: Type.Array(NamedResources, {
          minItems: 1,
          maxItems: 20,
          description: 'The resources whose requests are meant.',
        }),
        only: Type.Array(Member, {
          minItems: 1,
          maxItems: 20,
          description:
            'Nobody may decide these requests but members of one of these groups and roles, and these users.',
        }),
      }),
    ),
  },
  { additionalProperties: false, minProperties: 1, maxProperties: 1 },
)

export const InvariantsInput = Body({
  draft: Type.Optional(Draft),
  checks: Type.Array(Check, { minItems: 1, maxItems: 10 }),
})
export type InvariantsInput = Static<typeof InvariantsInput>

const ShownDecision = Type.Object({
  allowed: Type.Boolean(),
  mode: Nullable(OneOf(approvalModes)),
  reasoning: Type.String(),
  rule_ids: Type.Array(Uuid),
})

const ShownPerson = Type.Object({
  id: Type.String(),
  email: Type.String(),
  email_verified: Type.Boolean(),
  name: Type.String(),
  auth_provider: Type.String(),
  is_owner: Type.Boolean(),
  groups: Type.Array(Type.String()),
  roles: Type.Array(Type.String()),
  scopes: Type.Array(Type.String()),
  department: Type.Optional(Type.String()),
  title: Type.Optional(Type.String()),
  manager: Type.Optional(Type.String()),
})

const Shown = Type.Object(
  {
    who: ShownPerson,
    asks: Type.Optional(Type.String({ description: 'The requested action; or' })),
    approves: Type.Optional(Type.String({ description: 'the action of the request that `who` decides.' })),
    requester: Type.Optional(ShownPerson),
    resource: Type.Object({
      type: OneOf(askedTypes),
      id: Type.String(),
      name: Type.Optional(Type.String()),
      tags: Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } }),
      in: Type.Array(Type.String()),
    }),
    context: Type.Object({
      duration_seconds: Type.Integer(),
      has_reason: Type.Boolean(),
      break_glass: Type.Boolean(),
      now: Type.String({ format: 'date-time' }),
      time_zone: Type.String(),
      via: Type.String(),
      source_ip: Type.String(),
    }),
    decision: ShownDecision,
    before: Type.Optional(ShownDecision),
  },
  {
    description: 'A question, in the form of a case, with its decision; `before` is the decision by the current rules.',
  },
)

export const InvariantsAnswer = Type.Object(
  {
    rule_set_version: Type.String({ description: 'The version of the current rules.' }),
    checks: Type.Array(
      Type.Object({
        result: OneOf(['proved', 'counterexample', 'not_found_in_search']),
        tried: Type.Integer({ description: 'The number of questions evaluated in search of a counterexample.' }),
        counterexample: Type.Optional(Shown),
      }),
      { description: 'In the order of the checks.' },
    ),
  },
  { title: 'InvariantsAnswer' },
)

/** The named resources as the checks compare them. 400 naming each that does not fit. */
export function namedResources(resources: readonly NamedResources[], pointer: string): Named[] {
  return resources.map(({ scope_type, entity_type, entity_id, tags = {} }, index) => {
    // No request is for another request: the invariant would hold for no resource at all, and seem to be proved.
    if (entity_type === 'access_request')
      throw invalidInput([
        { pointer: `${pointer}/${index}/entity_type`, why: 'must be the type of a resource that can be requested' },
      ])
    const fields = {
      resource_scope_type: scope_type,
      ...(entity_type !== undefined && { resource_entity_type: entity_type }),
      ...(entity_id !== undefined && { resource_entity_id: entity_id }),
    }
    try {
      return { scope: scopeFromFields(fields).resource, tags }
    } catch (error) {
      const faults = (error as { details?: { fields?: FaultyField[] } }).details?.fields
      if (faults === undefined) throw error
      const at = `${pointer}/${index}`
      throw invalidInput(faults.map((fault) => ({ ...fault, pointer: at + fault.pointer.replace('/resource_', '/') })))
    }
  })
}

export function answerOf(outcome: Outcome) {
  const { result, tried } = outcome
  return outcome.result === 'counterexample'
    ? { result, tried, counterexample: shown(outcome.counterexample) }
    : { result, tried }
}

function shown({ question, decision, before }: Counterexample) {
  const { context } = question
  const [resource] = 'request' in question ? question.targets : question.resources
  if (resource === undefined) throw new Error('a counterexample has no resource')
  const { type, id, name, tags, parents } = resource
  return {
    who: shownPerson(question.principal),
    ...('request' in question
      ? { approves: question.request.action, requester: shownPerson(question.request.requester) }
      : { asks: question.action }),
    resource: { type, id, ...(name !== '' && { name }), tags, in: parents.map((one) => `${one.type}::${one.id}`) },
    context: { ...context, now: context.now.toISOString() },
    decision: shownDecision(decision),
    ...(before !== undefined && { before: shownDecision(before) }),
  }
}

function shownPerson({ group_ids, role_ids, scopes, active: _active, ...person }: Principal) {
  return { ...person, groups: [...group_ids], roles: [...role_ids], scopes: [...scopes] }
}

function shownDecision({ allowed, mode, reasoning, rule_ids }: Decision) {
  return { allowed, mode, reasoning, rule_ids: [...rule_ids] }
}
