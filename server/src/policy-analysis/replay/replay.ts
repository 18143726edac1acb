import { type Static, Type } from 'typebox'
import { AnyObject, Body, DateTime, Nullable, OneOf, Uuid } from '../../http/schema.ts'
import { Problem } from '../../kernel/errors.ts'
import { Draft } from '../../policies/drafts/draft.ts'
import { approvalModes } from '../../policy-engine/rule.ts'
import { ResourceReference } from '../../requests/request.ts'

/** A replay asks so many questions at most, the latest; how many there are more is not counted. */
export const maxQuestions = 100_000
/** So many changed questions are told one by one, and so many requesters, resources and rules with their counts. */
export const maxShown = 200
export const maxCounted = 50
/** A draft that brings more rules is read by whoever runs the replay, not before the answer. */
const maxReadAtOnce = 1_000

const statuses = ['waiting', 'running', 'done', 'failed'] as const

/** What can become of a question. One may be of a mode and of the auditing at once; of the others it is one alone. */
export const differences = [
  'newly_allowed',
  'newly_denied',
  'loosened',
  'tightened',
  'audit_added',
  'audit_removed',
] as const
export type Difference = (typeof differences)[number]

export const ReplayInput = Body({
  draft: Draft,
  days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 90, description: 'the questions of so many days; 30 when absent' }),
  ),
})

const Count = Type.Integer({ minimum: 0 })

const changes = {
  newly_allowed: Count,
  newly_denied: Count,
  loosened: Type.Integer({ minimum: 0, description: 'allowed by both, and by the draft without a person' }),
  tightened: Type.Integer({ minimum: 0, description: 'allowed by both, and by the draft only by a person' }),
  audit_added: Type.Integer({ minimum: 0, description: 'allowed by both, by the draft with session auditing' }),
  audit_removed: Count,
} as const satisfies Record<Difference, unknown>

/** So many are told, those of the most changed questions first; `more`: how many others have changed questions. */
function Most<Of extends Parameters<typeof Type.Object>[0]>(of: Of) {
  return Type.Object({ most: Type.Array(Type.Object({ ...of, changed: Count, ...changes })), more: Count })
}

const Told = Type.Object({
  allowed: Type.Boolean(),
  approval_mode: Nullable(OneOf(approvalModes)),
  audit_session: Type.Boolean(),
  governing_rule_id: Nullable(Uuid),
  rule_ids: Type.Array(Uuid, { description: 'those that decided, in order, at most 20' }),
  reasoning: Type.String({ description: 'at most 500 characters' }),
})

const ChangedQuestion = Type.Object({
  decision_id: Type.String({ format: 'uuid', description: 'the decision that the question was answered by' }),
  request_id: Nullable(Type.String({ format: 'uuid', description: 'null: asking was refused, there is no request' })),
  kind: OneOf(['ask', 'approve'], { description: 'ask: may it be had; approve: may this person decide it' }),
  decided_at: DateTime,
  requester_id: Uuid,
  approver_id: Nullable(Uuid),
  resource: ResourceReference,
  action: Type.String(),
  duration_seconds: Type.Integer(),
  break_glass: Type.Boolean(),
  differences: Type.Array(OneOf(differences)),
  before: Told,
  after: Told,
})
export type ChangedQuestion = Static<typeof ChangedQuestion>

const DraftRule = Type.Object({
  id: Type.String({ format: 'uuid', description: 'of a rule that the draft adds: its own for this replay alone' }),
  change: OneOf(['added', 'changed', 'removed']),
  pointer: Nullable(Type.String({ description: 'where the body of the replay says so' })),
})
export type DraftRule = Static<typeof DraftRule>

const ReplayResult = Type.Object({
  rule_set_version: Type.String({ description: 'of the present rules' }),
  counts: Type.Object({
    questions: Count,
    unchanged: Count,
    changed: Count,
    ...changes,
    undecidable: Type.Integer({ minimum: 0, description: 'the engine could not answer by one of both' }),
  }),
  rules: Type.Object({ added: Count, changed: Count, removed: Count }),
  by_requester: Most({ requester_id: Uuid }),
  by_resource: Most({ resource: ResourceReference }),
  by_rule: Most(DraftRule.properties),
  changed: Type.Array(ChangedQuestion, { description: 'the latest first, at most 200' }),
})
export type ReplayResult = Static<typeof ReplayResult>

/** A replay as it is answered. */
export const Replay = Type.Object(
  {
    id: Uuid,
    status: OneOf(statuses),
    days: Type.Integer(),
    asked: Type.Integer({ description: 'questions decided so far' }),
    total: Nullable(Type.Integer({ description: 'of so many; null: not counted yet' })),
    created_by: Nullable(Uuid),
    created_at: Type.String({ format: 'date-time', description: 'questions of later than this are not asked' }),
    started_at: Nullable(DateTime),
    finished_at: Nullable(DateTime),
    error: Nullable(
      Type.Object(
        { code: Type.String(), message: Type.String(), details: Type.Optional(AnyObject) },
        { description: 'why it failed' },
      ),
    ),
    result: Nullable(ReplayResult),
  },
  { title: 'PolicyReplay' },
)
export type Replay = Static<typeof Replay>

/** Replays tell who asked for what, refusals too, which else the audit log alone does: 403 without its scope. */
export function requireAuditReader(actor: { scopes: ReadonlySet<string> }): void {
  if (actor.scopes.has('audit:read')) return
  throw new Problem('forbidden', 'this needs the scope `audit:read` beside `policies:read`', {
    details: { scope: 'audit:read' },
  })
}

/** Whether the draft is short enough to be read before the answer, so that its faults are told at once. */
export function isReadAtOnce({ policies = [], changes: made = [] }: Draft): boolean {
  const brought = [...policies, ...made.map(({ create_policy }) => create_policy)]
  return brought.reduce((sum, policy) => sum + (policy?.rules?.length ?? 0), made.length) <= maxReadAtOnce
}
