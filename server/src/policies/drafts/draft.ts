/** A draft: a changed rule set that is not saved, to see what it would do. */
import { type Static, Type } from 'typebox'
import { Body, Uuid } from '../../http/schema.ts'
import { RuleInput } from '../../policy-engine/rule.ts'
import { maxRules, PolicyDescription, PolicyEnabled, PolicyName, PolicyPriority } from '../policy.ts'

/** How many policies and how many changes a draft may hold; rules as many as a tenant may have. */
const maxPolicies = 1_000
const maxChanges = 1_000

/** Bytes of a body with a draft, which may bring all the rules there are. */
export const maxDraftBodyBytes = 4 * 1024 * 1024

const oneOfThem = { minProperties: 1, maxProperties: 1 }

const DraftRule = Type.Object(
  {
    id: Type.Optional(
      Type.String({
        format: 'uuid',
        description:
          'A rule of the tenant, which this is, changed or not. Without it, one that is word for word a rule of the tenant is that one.',
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

/** One change, under the name of what it does. */
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

/** A whole set of policies, or changes of the set there is, made one after the other. */
export const Draft = Type.Object(
  {
    policies: Type.Optional(
      Type.Array(DraftPolicy, {
        maxItems: maxPolicies,
        description: 'The whole set. One with an `id` is that policy; what is left out is gone.',
      }),
    ),
    changes: Type.Optional(
      Type.Array(Change, {
        maxItems: maxChanges,
        description: 'Changes of the present set, one after the other.',
      }),
    ),
  },
  { additionalProperties: false, ...oneOfThem, description: 'Either `policies` or `changes`.' },
)
export type Draft = Static<typeof Draft>

/** The rules that a draft changes: what is left of them must be read in full. */
export function rulesChangedBy({ changes = [] }: Draft): string[] {
  return changes.flatMap(({ update_rule }) => update_rule?.rule_id.toLowerCase() ?? [])
}
