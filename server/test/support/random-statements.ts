import { principalTypes, resourceTypes } from '../../src/policy-engine/cedar/schema.ts'
import type { RuleInput } from '../../src/policy-engine/rule.ts'
import { fc } from './chance.ts'
import { anyConditions, anyText, type Flavour, literal } from './random-conditions.ts'

/** Random rules, each both as fields and as a text that an author might write. The printer is not the engine's own. */

type Reference = { type: string; id: string }
type Side =
  | { scope: 'any' }
  | { scope: 'is'; type: string }
  | ({ scope: 'eq' | 'in' } & Reference)
  | { scope: 'is_in'; type: string; group: Reference }
type Words = Pick<RuleInput, 'notice' | 'audit_session' | 'approval_mode'>

/** The content of a rule. */
export type Meant = {
  effect: 'permit' | 'forbid'
  principal: Side
  action: { scope: 'any' | 'eq' | 'in'; ids: string[] }
  resource: Side
  conditions: string
  words: Words
}

function anySide(types: readonly string[]): fc.Arbitrary<Side> {
  const type = fc.constantFrom(...types)
  const reference = fc.record({ type, id: anyText })
  return fc.oneof(
    fc.constant<Side>({ scope: 'any' }),
    type.map((one): Side => ({ scope: 'is', type: one })),
    reference.map((one): Side => ({ scope: 'eq', ...one })),
    reference.map((one): Side => ({ scope: 'in', ...one })),
    fc.tuple(type, reference).map(([one, group]): Side => ({ scope: 'is_in', type: one, group })),
  )
}

const anyAction = fc
  .oneof(anyText, fc.constantFrom('ReadOnlyAccess', 'Admin'))
  .filter((id) => !id.startsWith('__') && id !== 'approve')

const anyActions: Record<Flavour, fc.Arbitrary<Meant['action']>> = {
  ask: fc.oneof(
    fc.constant<Meant['action']>({ scope: 'any', ids: [] }),
    anyAction.map((id): Meant['action'] => ({ scope: 'eq', ids: [id] })),
    fc.array(anyAction, { minLength: 1, maxLength: 4 }).map((ids): Meant['action'] => ({ scope: 'in', ids })),
  ),
  approve: fc.constantFrom<Meant['action'][]>({ scope: 'eq', ids: ['approve'] }, { scope: 'in', ids: ['approve'] }),
  both: fc.array(anyAction, { minLength: 1, maxLength: 2 }).map((ids) => ({ scope: 'in', ids: [...ids, 'approve'] })),
}

const modes: Record<Meant['effect'], NonNullable<RuleInput['approval_mode']>[]> = {
  permit: ['require', 'auto', 'break_glass'],
  forbid: ['auto', 'break_glass'],
}

/** Any rule that the fields can express, with one way to write its text. */
export const anyStatement: fc.Arbitrary<{ meant: Meant; input: RuleInput; text: string }> = fc
  .record({
    flavour: fc.constantFrom<Flavour[]>('ask', 'ask', 'ask', 'approve', 'both'),
    effect: fc.constantFrom<Meant['effect'][]>('permit', 'forbid'),
  })
  .chain(({ flavour, effect }) =>
    fc.record({
      meant: fc.record({
        effect: fc.constant(effect),
        principal: anySide(principalTypes),
        action: anyActions[flavour],
        resource: anySide(resourceTypes),
        conditions: anyConditions(flavour),
        words: fc.record(
          {
            notice: anyText,
            audit_session: fc.boolean(),
            ...(flavour === 'ask' && { approval_mode: fc.constantFrom(...modes[effect]) }),
          },
          { requiredKeys: [] },
        ),
      }),
      style: fc.record({
        glue: fc.constantFrom(' ', '\n', '\t', '\u2003'),
        ways: fc.array(fc.nat(9), { minLength: 1, maxLength: 3 }),
        id: fc.option(anyText, { nil: undefined }),
        wordsFirst: fc.boolean(),
      }),
    }),
  )
  .map(({ meant, style }) => ({ meant, input: asFields(meant), text: asText(meant, style) }))

function asFields(meant: Meant): RuleInput {
  const side = (name: 'principal' | 'resource', scope: Side) => ({
    [`${name}_scope_type`]: scope.scope,
    ...('type' in scope && { [`${name}_entity_type`]: scope.type }),
    ...('id' in scope && { [`${name}_entity_id`]: scope.id }),
    ...('group' in scope && { [`${name}_entity_id`]: `${scope.group.type}::${JSON.stringify(scope.group.id)}` }),
  })
  return {
    effect: meant.effect,
    ...side('principal', meant.principal),
    action_scope_type: meant.action.scope,
    ...(meant.action.ids.length > 0 && { action_ids: meant.action.ids }),
    ...side('resource', meant.resource),
    ...(meant.conditions !== '' && { conditions: meant.conditions }),
    ...meant.words,
  }
}

type Style = { glue: string; ways: number[]; id: string | undefined; wordsFirst: boolean }

function asText(meant: Meant, { glue, ways, id, wordsFirst }: Style): string {
  const entity = ({ type, id: name }: Reference) => `${type}::${literal(name, ways)}`
  const side = (name: string, scope: Side) => {
    if (scope.scope === 'any') return name
    if (scope.scope === 'is') return `${name} is ${scope.type}`
    if (scope.scope === 'is_in') return `${name} is ${scope.type}${glue}in${glue}${entity(scope.group)}`
    return `${name} ${scope.scope === 'eq' ? '==' : 'in'}${glue}${entity(scope)}`
  }
  const ids = meant.action.ids.map((name) => entity({ type: 'Action', id: name }))
  const actions = meant.action.scope === 'eq' ? ` == ${ids[0]}` : ` in [${ids.join(`,${glue}`)}]`
  const words = Object.entries(meant.words).map(([name, value]) => `@${name}(${literal(String(value), ways)})`)
  if (id !== undefined) words.push(`@id(${literal(id, ways)})`)
  return [
    ...(wordsFirst ? words : words.toReversed()),
    `${meant.effect}(${side('principal', meant.principal)},${glue}action${meant.action.scope === 'any' ? '' : actions},`,
    `${side('resource', meant.resource)})`,
    ...(meant.conditions === '' ? [] : [meant.conditions]),
    ';',
  ].join(glue)
}
