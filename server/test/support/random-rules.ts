import type { AskQuestion } from '../../src/policy-engine/cedar/question.ts'
import { sampleAccount, sampleQuestion } from '../../src/policy-engine/cedar/samples.ts'
import { fc } from './chance.ts'
import { sampleRule } from './sample-rule.ts'

/** Random rules that often match each other's questions: rules of every mode, some of which fail in evaluation. */

const principals = [
  'principal',
  'principal == User::"ada"',
  'principal in Group::"engineers"',
  'principal in Role::"admin"',
]
const actions = ['action', 'action == Action::"ReadOnlyAccess"', 'action in [Action::"Admin", Action::"Power"]']
const resources = ['resource', 'resource is cloud_account', 'resource == cloud_account::"2"']
const conditions = [
  '',
  'when { context.break_glass }',
  'when { principal.email like "*@example.com" && principal.email_verified }',
  'when { principal has department && principal.department == "Finance" }',
  'unless { resource.hasTag("env") }',
  'when { context.duration_seconds * 9223372036854775807 > 0 }',
]
const modes = { permit: ['require', 'auto', 'break_glass'], forbid: ['', 'auto', 'break_glass'] }

/** A rule of one of these effects. */
export const anyRule = (effects: ('permit' | 'forbid')[]) =>
  fc
    .record({
      effect: fc.constantFrom(...effects),
      mode: fc.nat(2),
      notice: fc.constantFrom('', 'one', 'two'),
      audit: fc.boolean(),
      scope: fc.tuple(fc.constantFrom(...principals), fc.constantFrom(...actions), fc.constantFrom(...resources)),
      condition: fc.constantFrom(...conditions),
      place: fc.record({ priority: fc.nat(2), ordinal: fc.nat(2), saved_by: fc.constantFrom('ada', 'editor') }),
    })
    .map(({ effect, mode, notice, audit, scope, condition, place }) => {
      const named = modes[effect][mode]
      const annotations = `${named ? `@approval_mode("${named}") ` : ''}@notice("${notice}") @audit_session("${audit}")`
      return { text: `${annotations} ${effect}(${scope.join(', ')}) ${condition};`, place }
    })

type Drawn = { text: string; place: { priority: number; ordinal: number; saved_by: string } }
/** The rule with its position as its id. */
export const ruleOf = ({ text, place }: Drawn, index: number) => sampleRule(`rule-${index}`, text, place)

/** A request for one account or two, with or without break-glass. */
export const anyQuestion: fc.Arbitrary<AskQuestion> = fc
  .record({
    breakGlass: fc.boolean(),
    action: fc.constantFrom('ReadOnlyAccess', 'Admin', 'new'),
    wide: fc.boolean(),
    email_verified: fc.boolean(),
    facts: fc.constantFrom({}, { department: 'Finance' }),
  })
  .map(({ breakGlass, action, wide, email_verified, facts }) => ({
    ...sampleQuestion,
    principal: { ...sampleQuestion.principal, email_verified, ...facts },
    action,
    resources: wide ? [sampleAccount, { ...sampleAccount, id: '2', tags: {} }] : [sampleAccount],
    context: { ...sampleQuestion.context, break_glass: breakGlass },
  }))
