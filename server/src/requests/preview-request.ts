import { type Static, Type } from 'typebox'
import { LiveGrant } from '../grants/grant.ts'
import { findLiveGrant } from '../grants/live-grant-store.ts'
import { operation } from '../http/operation.ts'
import { Nullable, OneOf, Uuid } from '../http/schema.ts'
import { evaluateRequest } from './evaluate-request.flow.ts'
import { findLongestDuration } from './longest-duration.flow.ts'
import { explainAnswer } from './near-miss-explanation.flow.ts'
import { NearMissExplanation } from './near-miss-explanation.ts'
import { Place } from './place.ts'
import { findDeciders } from './possible-approvers.flow.ts'
import { Deciders, RequestWarning } from './request.ts'
import { RequestInput } from './request-input.ts'
import { warningsOf } from './request-warnings.flow.ts'
import { riskFields, riskOf } from './risk.ts'

/** The answer that the request would get. */
const RequestPreview = Type.Object(
  {
    allowed: Type.Boolean({ description: 'false: the request would be refused with these notices' }),
    approval_mode: Nullable(
      OneOf(['require', 'auto', 'break_glass'], {
        description: 'require: a person decides; auto and break_glass: approved at once',
      }),
    ),
    audit_session: Type.Boolean(),
    notices: Type.Array(Type.String()),
    reasoning: Type.String({ description: 'why, in words; names rules only with policies:read' }),
    duration_seconds: Type.Integer({ description: 'how long access would last' }),
    max_duration_seconds: Nullable(
      Type.Integer({
        description: 'the longest duration that would be allowed, not shorter than yours; null where there is none',
      }),
    ),
    ...riskFields,
    places: Type.Array(Place, {
      description: 'where access would be given, one grant each; empty where the request would be refused',
    }),
    rule_ids: Type.Optional(
      Type.Array(Uuid, { description: 'the rules that decided, in order; only with policies:read' }),
    ),
    may_decide: Type.Optional(Deciders),
    live_grant: Nullable(LiveGrant),
    warnings: Type.Optional(
      Type.Array(RequestWarning, {
        description: 'the warnings that the request would get; absent where there are none',
      }),
    ),
    nearest: Type.Optional(
      Type.Array(NearMissExplanation, {
        description:
          'near misses: what would have to change for a better answer, one change each, or two where one is not enough; ' +
          'absent where none is known',
      }),
    ),
  },
  { title: 'RequestPreview' },
)
type RequestPreview = Static<typeof RequestPreview>

/** A refused preview lists no places: the accounts of a unit are not shown to a user who may have no access there. */
export const previewRequest = operation({
  method: 'POST',
  path: '/v1/requests/preview',
  summary: 'Preview the answer to a request; stores nothing and notifies no user',
  credential: 'any',
  scope: 'requests:create',
  body: RequestInput,
  replies: { 200: RequestPreview },
  errors: ['unprocessable'],
  async run(ctx, { body }): Promise<RequestPreview> {
    const evaluated = await evaluateRequest(ctx, body)
    const { requested, decision } = evaluated
    const { nearest, reasoning } = await explainAnswer(ctx, evaluated)
    const may_decide = decision.mode === 'require' ? await findDeciders(ctx.tx, evaluated) : undefined
    const warnings = may_decide?.count === 0 ? await warningsOf(ctx.tx, evaluated) : []
    const { allowed, mode, audit_session, notices, rule_ids } = decision
    return {
      allowed,
      approval_mode: mode,
      audit_session,
      notices,
      reasoning,
      duration_seconds: requested.duration_seconds,
      max_duration_seconds: await findLongestDuration(evaluated),
      // A refusal does not show the tags of an account.
      ...(allowed ? evaluated.risk : riskOf(requested, new Map())),
      places: allowed ? [...requested.places] : [],
      ...(ctx.actor.scopes.has('policies:read') && { rule_ids }),
      ...(may_decide !== undefined && { may_decide }),
      live_grant: (await findLiveGrant(ctx.tx, evaluated.requester_id, requested)) ?? null,
      ...(warnings.length > 0 && { warnings }),
      ...(nearest.length > 0 && { nearest }),
    }
  },
})
