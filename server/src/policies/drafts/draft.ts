/** A draft: a changed rule set that is not saved, to test its effects. */
import { type Static, Type } from 'typebox'
import { Body, Uuid } from '../../http/schema.ts'
import { RuleInput } from '../../policy-engine/rule.ts'
import { withoutIgnored } from '../ignored-fields.ts'
import { maxRules, PolicyDescription, PolicyEnabled, PolicyName, PolicyPriority } from '../policy.ts'

/** The maximum numbers of policies and of changes in a draft; its rules have the tenant's maximum. */
const maxPolicies = 1_000
const maxChanges = 1_000

/** Bytes of a body with a draft, which may contain all rules of a tenant. */
export const maxDraftBodyBytes = 4 * 1024 * 1024

const oneOfThem = { minProperties: 1, maxProperties: 1 }

const DraftRule = Type.Object(
  {
    id: Type.Optional(
      Type.String({
        format: 'uuid',
        description:
          'The id of the tenant’s rule that this is, changed or not. Without it, a rule identical to one of the tenant’s is that rule.',
      }),
    ),
    ...RuleInput.properties,
  },
  { additionalProperties: false },
)
export type DraftRule = Static<typeof DraftRule>

const newPolicy = {
  name: PolicyName,
  description: Type.Optional(PolicyDescription),
  enabled: Type.Optional(PolicyEnabled),
  priority: Type.Optional(PolicyPriority),
}

const DraftPolicy = Body({
  id: Type.Optional(Uuid),
  ...newPolicy,
  rules: Type.Array(DraftRule, { maxItems: maxRules }),
})
export type DraftPolicy = Static<typeof DraftPolicy>

const NewPolicy = Body({ ...newPolicy, rules: Type.Optional(Type.Array(RuleInput, { maxItems: maxRules })) })

/** One change, under the name of its operation. */
const Change = Type.Object(
  {
    create_rule: Type.Optional(Body({ policy_id: Uuid, rule: RuleInput })),
    update_rule: Type.Optional(Body({ rule_id: Uuid, rule: RuleInput })),
    delete_rule: Type.Optional(Body({ rule_id: Uuid })),
    create_policy: Type.Optional(NewPolicy),
    update_policy: Type.Optional(Body({ policy_id: Uuid, enabled: PolicyEnabled })),
    delete_policy: Type.Optional(Body({ policy_id: Uuid })),
  },
  { additionalProperties: false, ...oneOfThem },
)
export type Change = Static<typeof Change>

/** A complete set of policies, or changes of the current set, applied in order. */
export const Draft = Type.Object(
  {
    policies: Type.Optional(
      Type.Array(DraftPolicy, {
        maxItems: maxPolicies,
        description:
          'The complete set. A policy with an `id` is that policy of the tenant; the draft deletes every policy that is absent.',
      }),
    ),
    changes: Type.Optional(
      Type.Array(Change, {
        maxItems: maxChanges,
        description: 'Changes of the current set, applied in order.',
      }),
    ),
  },
  { additionalProperties: false, ...oneOfThem, description: 'Either `policies` or `changes`.' },
)
export type Draft = Static<typeof Draft>

/** The rules that a draft changes; their other fields must be read in full. */
export function rulesChangedBy({ changes = [] }: Draft): string[] {
  return changes.flatMap(({ update_rule }) => update_rule?.rule_id.toLowerCase() ?? [])
}

/** The body without the fields of its `draft` that are ignored: structured fields of a rule beside its text. */
export function withoutIgnoredInDraft(sent: unknown): unknown {
  if (typeof sent !== 'object' || sent === null || !('draft' in sent)) return sent
  return { ...sent, draft: withoutIgnored(sent.draft) }
}
