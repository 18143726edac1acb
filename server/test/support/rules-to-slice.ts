/** Random rules of every form, and questions, for tests of which rules can be left out of an evaluation. */
import type { Principal, Resource } from '../../src/policy-engine/cedar/question.ts'
import { sampleQuestion } from '../../src/policy-engine/cedar/samples.ts'
import { approveAction } from '../../src/policy-engine/cedar/schema.ts'
import type { PolicyRule } from '../../src/policy-engine/deciding/rule-set.ts'
import type { ApprovalMode, Effect } from '../../src/policy-engine/rule.ts'
import { fc } from './chance.ts'

export const quoted = (type: string, id: string) => `${type}::${JSON.stringify(id)}`
const users = ['ada', 'grace', 'a b', 'User ada']
const groups = ['engineers', 'ops', 'ada']
const roles = ['user', 'admin']
const accounts = ['1', '2', 'cloud_account 1', '"']
const units = ['ou-1', 'ou-2']
export const actions = ['Read', 'Write', 'a:Read', '', 'unnamed']

const anyUser = fc.constantFrom(...users).map((id) => quoted('User', id))
const anyHolder = fc.oneof(
  anyUser,
  fc.constantFrom(...groups).map((id) => quoted('Group', id)),
  fc.constantFrom(...roles).map((id) => quoted('Role', id)),
)
const anyPlace = fc.oneof(
  fc.constantFrom(...accounts).map((id) => quoted('cloud_account', id)),
  fc.constantFrom(...accounts).map((id) => quoted('cloud_storage_bucket', id)),
  fc.constantFrom(...units).map((id) => quoted('cloud_organizational_unit', id)),
  fc.constant(quoted('access_request', 'asked')),
)
const scopeOf = (side: string, types: string[], entity: fc.Arbitrary<string>) =>
  fc.oneof(
    fc.constant(side),
    entity.map((one) => `${side} == ${one}`),
    entity.map((one) => `${side} in ${one}`),
    fc.constantFrom(...types).map((type) => `${side} is ${type}`),
    fc.tuple(fc.constantFrom(...types), entity).map(([type, one]) => `${side} is ${type} in ${one}`),
  )
const anyNames = fc
  .array(fc.constantFrom(...actions.slice(0, 4), approveAction), { minLength: 1, maxLength: 12 })
  .map((ids) => ids.map((id) => quoted('Action', id)))
const anyAction = fc.oneof(
  fc.constant('action'),
  anyNames.map(([one]) => `action == ${one}`),
  anyNames.map((all) => `action in [${all.join(', ')}]`),
)
export const conditions = [
  '',
  '',
  'when { context.has_reason }',
  'unless { principal in Role::"admin" }',
  'when { principal.email_verified }',
  'when { principal has department && principal.department == "Finance" }',
  `unless { principal has manager && principal.manager == User::${JSON.stringify(users[0])} }`,
  'when { context.duration_seconds * 9223372036854775807 > 0 }',
  'when { resource.nothing }',
  // What is read of a question before it is evaluated: facts, tags, and more scopes.
  'when { principal.name == "Ada" }',
  'when { "token" == context.via && resource.nothing }',
  'when { resource.nothing && context.via == "api_key" }',
  'unless { context.via == "token" } when { resource.nothing }',
  'when { !(context.break_glass || context.via != "token") }',
  'when { principal.department == "Finance" }',
  'when { principal has department } when { ["Finance", "Sales"].contains(principal.department) }',
  'when { principal has title || principal.department == "Sales" }',
  'when { resource.hasTag("env") && resource.getTag("env") == "prod" }',
  'when { resource.hasTag("env") && resource.getTag("team") == "a" && context.has_reason }',
  'unless { resource.hasTag("team") && resource.getTag("team") == "a" }',
  'when { resource.hasTag("team") } unless { resource.getTag("team") != "a" }',
  'when { context.duration_seconds <= 3600 && context.weekday != 1 && principal.is_owner }',
  'when { principal in Group::"ops" && resource in cloud_organizational_unit::"ou-1" }',
  'when { resource is cloud_account && resource == cloud_account::"1" } unless { principal == User::"ada" }',
  'when { action == Action::"Read" }',
  'unless { action == Action::"Write" }',
  'when { principal.scopes.contains("requests:create") }',
  'when { resource.requester.department == "Finance" }',
  'when { context.source_ip.isInRange(ip("10.0.0.0/8")) && principal.name == "Ada" }',
  'when { context.nothing == 1 && principal.name == "Ada" }',
  'when { principal.name && principal.name == "Ada" }',
  'when { if context.has_reason then principal.name == "Ada" else resource.nothing }',
]
export const anyRule = fc.record({
  effect: fc.constantFrom<Effect[]>('permit', 'permit', 'forbid'),
  approval_mode: fc.constantFrom<(ApprovalMode | null)[]>(null, 'auto', 'break_glass'),
  scope: fc.tuple(
    scopeOf('principal', ['User', 'Group'], anyHolder),
    anyAction,
    scopeOf('resource', ['cloud_account', 'cloud_storage_bucket', 'access_request'], anyPlace),
  ),
  condition: fc.constantFrom(...conditions),
  ordinal: fc.nat(3),
  annotation: fc.constantFrom('', '', '@id("permit()")', '@notice("forbid(")\n'),
})
type Drawn = typeof anyRule extends fc.Arbitrary<infer Value> ? Value : never
export const ruleOf = (
  { effect, approval_mode, scope, condition, ordinal, annotation }: Drawn,
  index: number,
): PolicyRule => {
  const policy_text = `${annotation}${effect}(${scope.join(', ')}) ${condition};`
  const place = { id: `rule-${index}`, policy_id: 'policy', priority: 1, ordinal, saved_by: null }
  return { ...place, effect, policy_text, notice: null, audit_session: false, approval_mode }
}

const anyPrincipal: fc.Arbitrary<Principal> = fc
  .record({
    id: fc.constantFrom(...users),
    email_verified: fc.boolean(),
    group_ids: fc.subarray(groups),
    role_ids: fc.subarray(roles),
    facts: fc.constantFrom(
      {},
      { department: 'Finance' },
      { department: 'Sales' },
      ...users.map((manager) => ({ manager })),
    ),
    name: fc.constantFrom('Ada', 'Grace'),
    is_owner: fc.boolean(),
    scopes: fc.subarray(['requests:create', 'requests:approve']),
  })
  .map(({ facts, ...drawn }) => ({ ...sampleQuestion.principal, ...drawn, ...facts }))
const anyResource: fc.Arbitrary<Resource> = fc
  .record({
    type: fc.constantFrom('cloud_account' as const, 'cloud_storage_bucket' as const),
    id: fc.constantFrom(...accounts),
    above: fc.subarray(units),
    home: fc.constantFrom(...accounts),
    tags: fc.constantFrom<Record<string, string>[]>(
      {},
      { env: 'prod' },
      { env: 'dev', team: 'a' },
      { team: 'b', x: '' },
    ),
  })
  .map(({ type, id, above, home, tags }) => {
    const within = above.map((unit) => ({ type: 'cloud_organizational_unit' as const, id: unit }))
    const account = type === 'cloud_account' ? [] : [{ type: 'cloud_account' as const, id: home }]
    return { type, id, name: '', tags, parents: [...account, ...within] }
  })
export const anyQuestion = fc.record({
  principal: anyPrincipal,
  resource: anyResource,
  action: fc.constantFrom(...actions),
  context: fc.record({
    has_reason: fc.boolean(),
    break_glass: fc.boolean(),
    via: fc.constantFrom('token' as const, 'api_key' as const),
    duration_seconds: fc.constantFrom(3600, 7200),
  }),
})
export type Question = typeof anyQuestion extends fc.Arbitrary<infer Value> ? Value : never
