import { type Static, Type } from 'typebox'
import { DateTime, Nullable, OneOf, Uuid } from '../http/schema.ts'
import { Place } from './place.ts'
import { ResourceReference } from './request.ts'

/**
 * When policy was evaluated: for the new request, for a person's decision, and again right before provisioning. `ask_again` also
 * stands for an approval that was refused because the requester may no longer have the access.
 */
export const questionKinds = ['ask', 'approve', 'ask_again'] as const

const Rule = Type.Object({
  id: Uuid,
  policy_name: Type.Optional(Nullable(Type.String({ description: 'null: the rule was deleted' }))),
  notice: Type.Optional(Nullable(Type.String({ description: 'the rule’s current notice' }))),
  changed_since: Type.Optional(Type.Boolean({ description: 'the rule was saved, moved or deleted since' })),
})

/** A policy decision about a request, as recorded. */
export const RequestDecision = Type.Object(
  {
    id: Uuid,
    kind: OneOf(questionKinds, {
      description:
        'ask: may the user request this; approve: may this person decide the request, also where a try was refused (the first ' +
        'by one version of the rules); ask_again: is access still permitted',
    }),
    decided_at: DateTime,
    principal_id: Type.String({ description: 'the user whom the question was about' }),
    allowed: Type.Boolean(),
    approval_mode: Nullable(OneOf(['require', 'auto', 'break_glass'])),
    reasoning: Nullable(Type.String({ description: 'null: the decision is older than the storing of this text' })),
    notices: Type.Array(Type.String()),
    rule_set_version: Type.Integer({ description: 'the version of the tenant’s rules; each change increments it' }),
    rules: Type.Array(Rule, {
      description: 'the rules that decided, in order, at most 100; more fields of each with policies:read',
    }),
    errors: Type.Optional(
      Type.Array(Type.Object({ rule_id: Nullable(Uuid), message: Type.String() }), {
        description: 'rules that could not be evaluated; only with policies:read',
      }),
    ),
    question: Type.Object({
      resource: ResourceReference,
      action: Type.String(),
      places: Type.Array(Place),
      duration_seconds: Type.Integer(),
      has_reason: Type.Boolean(),
      break_glass: Type.Boolean(),
      now: DateTime,
      via: Type.Optional(OneOf(['token', 'api_key'])),
      source_ip: Type.Optional(
        Type.String({ description: 'shown, like `via`, to the user whom the question was about, and with audit:read' }),
      ),
    }),
  },
  { title: 'RequestDecision' },
)
export type RequestDecision = Static<typeof RequestDecision>

/** A decision with every stored field. */
export type FullDecision = RequestDecision & Required<Pick<RequestDecision, 'errors'>>

/** The fields of a decision that this actor may see. The actor may already see the request. */
export function decisionFor(
  actor: { user_id: string | null; scopes: ReadonlySet<string> },
  { errors, ...decision }: FullDecision,
): RequestDecision {
  const { via, source_ip, ...question } = decision.question
  const seesRules = actor.scopes.has('policies:read')
  const seesOrigin = decision.principal_id === actor.user_id || actor.scopes.has('audit:read')
  return {
    ...decision,
    rules: seesRules ? decision.rules : decision.rules.map(({ id }) => ({ id })),
    ...(seesRules && { errors }),
    question: seesOrigin ? decision.question : question,
  }
}
