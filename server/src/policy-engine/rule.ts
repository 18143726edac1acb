import { type Static, Type } from 'typebox'

export const effects = ['permit', 'forbid'] as const
export const entityScopeTypes = ['any', 'eq', 'in', 'is', 'is_in'] as const
export const actionScopeTypes = ['any', 'eq', 'in'] as const
export const approvalModes = ['require', 'auto', 'break_glass'] as const

export type Effect = (typeof effects)[number]
export type EntityScopeType = (typeof entityScopeTypes)[number]
export type ActionScopeType = (typeof actionScopeTypes)[number]
export type ApprovalMode = (typeof approvalModes)[number]

const Effect = Type.Enum([...effects])
const EntityScopeType = Type.Enum([...entityScopeTypes])
const ActionScopeType = Type.Enum([...actionScopeTypes])

const ApprovalMode = Type.Enum([...approvalModes], {
  description:
    'On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to ' +
    'emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, ' +
    '`break_glass` = forbids emergency requests.',
})

const EntityType = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`.',
})

/** The limits of a scope's fields, in characters and in actions; they hold for a text too. */
export const scopeLimits = { entityId: 2048, actionId: 256, actions: 500 } as const

const EntityId = Type.String({
  maxLength: scopeLimits.entityId,
  description:
    'The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: ' +
    '`Group::"0b5e…"`, the id quoted as a JSON string.',
})

const ActionIds = Type.Array(Type.String({ maxLength: scopeLimits.actionId }), {
  maxItems: scopeLimits.actions,
  description: 'One action for `eq`, one or more for `in`.',
})

/** Far above the limit of a statement, so that `invalid_policy` reports that limit with its place; the body's limit comes first. */
const StatementText = (description: string) => Type.String({ maxLength: 1_048_576, description })

const Notice = Type.String({ maxLength: 1000, description: 'The text that people read when the rule decides.' })
export const maxOrdinal = 2_147_483_647
const Ordinal = Type.Integer({
  minimum: 0,
  maximum: maxOrdinal,
  description: 'Place within the policy. It chooses which rule’s text is shown, never the decision.',
})

/** The body of endpoint 4: `policy_text`, or the structured fields. */
export const RuleInput = Type.Object(
  {
    policy_text: Type.Optional(
      StatementText('One Cedar statement. The structured fields beside it are ignored, even invalid ones.'),
    ),
    effect: Type.Optional(Effect),
    principal_scope_type: Type.Optional(EntityScopeType),
    principal_entity_type: Type.Optional(EntityType),
    principal_entity_id: Type.Optional(EntityId),
    action_scope_type: Type.Optional(ActionScopeType),
    action_ids: Type.Optional(ActionIds),
    resource_scope_type: Type.Optional(EntityScopeType),
    resource_entity_type: Type.Optional(EntityType),
    resource_entity_id: Type.Optional(EntityId),
    conditions: Type.Optional(StatementText('`when` and `unless` clauses, as Cedar writes them.')),
    ordinal: Type.Optional(Ordinal),
    notice: Type.Optional(Notice),
    audit_session: Type.Optional(Type.Boolean({ description: 'Whether grants have session auditing.' })),
    approval_mode: Type.Optional(ApprovalMode),
  },
  {
    additionalProperties: false,
    description:
      'Either `policy_text`, or `effect` and the scope. A scope type that is absent is `any`; another one but `any` needs its entity type, and ' +
      'its entity id unless it is `is`; an entity field that it does not use is refused. `action_ids`: ' +
      'none for `any`, one for `eq`, one or more for `in`.',
  },
)
export type RuleInput = Static<typeof RuleInput>

/** A rule as the API returns it. Empty fields are absent. */
export const Rule = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    policy_id: Type.String({ format: 'uuid' }),
    ordinal: Ordinal,
    effect: Effect,
    principal_scope_type: EntityScopeType,
    principal_entity_type: Type.Optional(EntityType),
    principal_entity_id: Type.Optional(EntityId),
    action_scope_type: ActionScopeType,
    action_ids: ActionIds,
    resource_scope_type: EntityScopeType,
    resource_entity_type: Type.Optional(EntityType),
    resource_entity_id: Type.Optional(EntityId),
    conditions: Type.Optional(Type.String()),
    policy_text: Type.String(),
    notice: Type.Optional(Notice),
    audit_session: Type.Boolean(),
    approval_mode: Type.Optional(ApprovalMode),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
    warnings: Type.Optional(
      Type.Array(Type.String(), { description: 'Effects of the rule that its author may not have intended.' }),
    ),
  },
  { additionalProperties: false },
)
export type Rule = Static<typeof Rule>
