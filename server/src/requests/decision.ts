import { type Static, Type } from 'typebox'
import { DateTime, Nullable, OneOf, Uuid } from '../http/schema.ts'
import { Place } from './place.ts'
import { ResourceReference } from './request.ts'

/** What policy was asked: to ask for it, to decide about it, and again right before access was given. */
export const questionKinds = ['ask', 'approve', 'ask_again'] as const

const Rule = Type.Object({
  id: Uuid,
  policy_name: Type.Optional(Nullable(Type.String({ description: 'null: the rule is gone' }))),
  notice: Type.Optional(Nullable(Type.String({ description: 'as the rule says it now' }))),
  changed_since: Type.Optional(Type.Boolean({ description: 'the rule was saved or moved since; or it is gone' })),
})

/** A decision of policy about a request, as it was taken. */
export const RequestDecision = Type.Object(
  {
    id: Uuid,
    kind: OneOf(questionKinds, {
      description: 'ask: may it be asked for; approve: may this person decide it; ask_again: may it still be given',
    }),
    decided_at: DateTime,
    principal_id: Type.String({ description: 'the user whom the question was about' }),
    allowed: Type.Boolean(),
    approval_mode: Nullable(OneOf(['require', 'auto', 'break_glass'])),
    reasoning: Nullable(Type.String({ description: 'null: from before the words were kept' })),
    notices: Type.Array(Type.String()),
    rule_set_version: Type.Integer({ description: 'of the tenant’s rules; it grows with each change' }),
    rules: Type.Array(Rule, {
      description: 'those that decided, in order, at most 100; more of each with policies:read',
    }),
    errors: Type.Optional(
      Type.Array(Type.Object({ rule_id: Nullable(Uuid), message: Type.String() }), {
        description: 'rules that could not be evaluated; for whoever holds policies:read',
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
        Type.String({ description: 'with `via`, told to whoever the question was about, and with audit:read' }),
      ),
    }),
  },
  { title: 'RequestDecision' },
)
export type RequestDecision = Static<typeof RequestDecision>

/** A decision with all that is kept of it. */
export type FullDecision = RequestDecision & Required<Pick<RequestDecision, 'errors'>>

/** As much of it as somebody may know who may see the request. */
export function decisionFor(
  actor: { user_id: string | null; scopes: ReadonlySet<string> },
  { errors, ...decision }: FullDecision,
): RequestDecision {
  const { via, source_ip, ...question } = decision.question
  const seesRules = actor.scopes.has('policies:read')
  const seesRoad = decision.principal_id === actor.user_id || actor.scopes.has('audit:read')
  return {
    ...decision,
    rules: seesRules ? decision.rules : decision.rules.map(({ id }) => ({ id })),
    ...(seesRules && { errors }),
    question: seesRoad ? decision.question : question,
  }
}
