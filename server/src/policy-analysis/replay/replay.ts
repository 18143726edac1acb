import { type Static, Type } from 'typebox'
import { AnyObject, Body, DateTime, Nullable, OneOf, Uuid } from '../../http/schema.ts'
import { Problem } from '../../kernel/errors.ts'
import { Draft } from '../../policies/drafts/draft.ts'
import { approvalModes } from '../../policy-engine/rule.ts'
import { ResourceReference, requestStatuses } from '../../requests/request.ts'

/** A replay evaluates at most this many questions, the latest; further ones are not counted. */
export const maxQuestions = 100_000
/** The numbers of changed questions that are listed, and of requesters, resources and rules that are listed with their counts. */
export const maxShown = 200
export const maxCounted = 50
/** The approvers of at most this many requests are compared, the latest; further requests are not counted. */
export const maxRequests = 10_000
/** And at most this many pairs of a request and a user who might decide it are evaluated. */
export const maxPairs = 200_000
/** The number of users that a request's lists of approvers name. */
export const maxUsers = 20
/** A draft with more rules is checked by the job that runs the replay, not before the reply. */
const maxReadAtOnce = 1_000

const statuses = ['waiting', 'running', 'done', 'failed'] as const

/** The possible changes of a question's answer. A change of mode and one of auditing can occur together; any other occurs alone. */
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
    Type.Integer({
      minimum: 1,
      maximum: 90,
      description: 'the number of days whose questions are evaluated; 30 when absent',
    }),
  ),
})

const Count = Type.Integer({ minimum: 0 })

const changes = {
  newly_allowed: Count,
  newly_denied: Count,
  loosened: Type.Integer({ minimum: 0, description: 'allowed by both; by the draft without a person' }),
  tightened: Type.Integer({ minimum: 0, description: 'allowed by both; by the draft only after a person’s decision' }),
  audit_added: Type.Integer({ minimum: 0, description: 'allowed by both; by the draft with session auditing' }),
  audit_removed: Count,
} as const satisfies Record<Difference, unknown>

/** A list, most changed questions first; `more`: how many further ones have changed questions. */
function Most<Of extends Parameters<typeof Type.Object>[0]>(of: Of) {
  return Type.Object({ most: Type.Array(Type.Object({ ...of, changed: Count, ...changes })), more: Count })
}

const ShownDecision = Type.Object({
  allowed: Type.Boolean(),
  approval_mode: Nullable(OneOf(approvalModes)),
  audit_session: Type.Boolean(),
  governing_rule_id: Nullable(Uuid),
  rule_ids: Type.Array(Uuid, { description: 'the rules that decided, in order, at most 20' }),
  reasoning: Type.String({ description: 'at most 500 characters' }),
})

const ChangedQuestion = Type.Object({
  decision_id: Type.String({ format: 'uuid', description: 'the past decision that answered the question' }),
  request_id: Nullable(Type.String({ format: 'uuid', description: 'null: the request was refused and not stored' })),
  kind: OneOf(['ask', 'approve'], {
    description: 'ask: may the user request this; approve: may this person decide the request',
  }),
  decided_at: DateTime,
  requester_id: Uuid,
  approver_id: Nullable(Uuid),
  resource: ResourceReference,
  action: Type.String(),
  duration_seconds: Type.Integer(),
  break_glass: Type.Boolean(),
  differences: Type.Array(OneOf(differences)),
  before: ShownDecision,
  after: ShownDecision,
})
export type ChangedQuestion = Static<typeof ChangedQuestion>

const DraftRule = Type.Object({
  id: Type.String({ format: 'uuid', description: 'for a rule that the draft adds: an id valid only in this replay' }),
  change: OneOf(['added', 'changed', 'removed']),
  pointer: Nullable(Type.String({ description: 'the place of the rule in the body of the replay' })),
})
export type DraftRule = Static<typeof DraftRule>

const Users = Type.Object({
  users: Type.Array(Uuid, { description: `at most ${maxUsers}` }),
  more: Type.Integer({ minimum: 0, description: 'how many further users' }),
})

const ChangedApprovers = Type.Object({
  request_id: Uuid,
  status: OneOf(requestStatuses, { description: 'the current status of the request' }),
  created_at: DateTime,
  requester_id: Uuid,
  resource: ResourceReference,
  action: Type.String(),
  added: Users,
  removed: Users,
  nobody_left: Type.Boolean({ description: 'somebody may decide the request now, and nobody by the draft' }),
})
export type ChangedApprovers = Static<typeof ChangedApprovers>

const ComparedApprovers = Type.Object(
  {
    requests: Type.Integer({ minimum: 0, description: 'requests examined, the latest first' }),
    total: Type.Integer({
      minimum: 0,
      description:
        'requests to examine, at most 10,000; where fewer were examined, they have more possible approvers than a replay evaluates',
    }),
    changed: Type.Integer({ minimum: 0, description: 'requests whose approvers the draft changes' }),
    added: Type.Integer({ minimum: 0, description: 'approvers that requests gain, summed over the requests' }),
    removed: Type.Integer({ minimum: 0, description: 'approvers that requests lose, summed over the requests' }),
    nobody_left: Type.Integer({ minimum: 0, description: 'requests that nobody may decide any more' }),
    undecidable: Type.Integer({
      minimum: 0,
      description:
        'approvers about whom the engine could not answer by one of the two rule sets, summed over the requests',
    }),
    by_request: Type.Array(ChangedApprovers, { description: 'the latest request first, at most 200' }),
  },
  {
    description:
      'who may decide each request that a question was about, open or past; null: the draft changes no rule that names `approve`; absent in results of earlier versions',
  },
)
export type ComparedApprovers = Static<typeof ComparedApprovers>

const ReplayResult = Type.Object({
  rule_set_version: Type.String({ description: 'the version of the current rules' }),
  counts: Type.Object({
    questions: Count,
    unchanged: Count,
    changed: Count,
    ...changes,
    undecidable: Type.Integer({ minimum: 0, description: 'the engine could not answer by one of the two rule sets' }),
  }),
  rules: Type.Object({ added: Count, changed: Count, removed: Count }),
  by_requester: Most({ requester_id: Uuid }),
  by_resource: Most({ resource: ResourceReference }),
  by_rule: Most(DraftRule.properties),
  changed: Type.Array(ChangedQuestion, { description: 'the latest first, at most 200' }),
  approvers: Type.Optional(Nullable(ComparedApprovers)),
})
export type ReplayResult = Static<typeof ReplayResult>

/** A replay as the API returns it. */
export const Replay = Type.Object(
  {
    id: Uuid,
    status: OneOf(statuses),
    days: Type.Integer(),
    asked: Type.Integer({ description: 'questions evaluated so far' }),
    total: Nullable(Type.Integer({ description: 'the number of questions to evaluate; null: not counted yet' })),
    created_by: Nullable(Uuid),
    created_at: Type.String({ format: 'date-time', description: 'later questions are not evaluated' }),
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

/** Replays show users’ requests, including refused ones, which otherwise only the audit log shows: 403 without its scope. */
export function requireAuditReader(actor: { scopes: ReadonlySet<string> }): void {
  if (actor.scopes.has('audit:read')) return
  throw new Problem('forbidden', 'a replay needs the scope `audit:read` in addition to `policies:read`', {
    details: { scope: 'audit:read' },
  })
}

/** Whether the draft is small enough to be checked before the reply, so that the reply reports its faults. */
export function isReadAtOnce({ policies = [], changes: made = [] }: Draft): boolean {
  const brought = [...policies, ...made.map(({ create_policy }) => create_policy)]
  return brought.reduce((sum, policy) => sum + (policy?.rules?.length ?? 0), made.length) <= maxReadAtOnce
}
