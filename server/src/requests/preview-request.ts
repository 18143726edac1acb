import { type Static, Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Nullable, OneOf, Uuid } from '../http/schema.ts'
import { evaluateRequest } from './evaluate-request.flow.ts'
import { whyNot } from './near-miss-explanation.flow.ts'
import { NearMissExplanation } from './near-miss-explanation.ts'
import { Place } from './place.ts'
import { RequestInput, RequestWarning } from './request.ts'
import { warningsOf } from './request-warnings.flow.ts'

/** What asking would be answered. */
const RequestPreview = Type.Object(
  {
    allowed: Type.Boolean({ description: 'false: asking is refused with these notices' }),
    approval_mode: Nullable(
      OneOf(['require', 'auto', 'break_glass'], { description: 'require: a person decides; else at once' }),
    ),
    audit_session: Type.Boolean(),
    notices: Type.Array(Type.String()),
    reasoning: Type.String(),
    duration_seconds: Type.Integer({ description: 'how long access would last' }),
    places: Type.Array(Place, { description: 'where access would be given, one grant each; none where denied' }),
    rule_ids: Type.Optional(
      Type.Array(Uuid, { description: 'the rules that decided, in order; for whoever holds policies:read' }),
    ),
    warnings: Type.Optional(Type.Array(RequestWarning, { description: 'as asking would answer them; else left out' })),
    nearest: Type.Optional(
      Type.Array(NearMissExplanation, {
        description:
          'what would have to be otherwise for a better answer, one thing each; absent where nothing is known',
      }),
    ),
  },
  { title: 'RequestPreview' },
)
type RequestPreview = Static<typeof RequestPreview>

/** Which accounts a unit holds is not told to somebody who may have nothing there. */
export const previewRequest = operation({
  method: 'POST',
  path: '/v1/requests/preview',
  summary: 'What asking for this would be answered; nothing is kept, nobody is told',
  credential: 'any',
  scope: 'requests:create',
  body: RequestInput,
  replies: { 200: RequestPreview },
  errors: [],
  async run(ctx, { body }): Promise<RequestPreview> {
    const asking = await evaluateRequest(ctx, body)
    const { asked, decision } = asking
    const [nearest, warnings] = [await whyNot(ctx, asking), await warningsOf(ctx.tx, asking)]
    const { allowed, mode, audit_session, notices, reasoning, rule_ids } = decision
    return {
      allowed,
      approval_mode: mode,
      audit_session,
      notices,
      reasoning,
      duration_seconds: asked.duration_seconds,
      places: allowed ? [...asked.places] : [],
      ...(ctx.actor.scopes.has('policies:read') && { rule_ids }),
      ...(warnings.length > 0 && { warnings }),
      ...(nearest.length > 0 && { nearest }),
    }
  },
})
