/** Templates of rules: what a person chooses in a sentence, and the rule that says it. */
import { quoted } from './cedar-text.ts'

export const templates = ['at_once', 'approval', 'administrator', 'emergency', 'working_hours'] as const
export type Template = (typeof templates)[number]

export type Who = { kind: 'everyone' } | { kind: 'group' | 'role'; id: string }
export type Where = { kind: 'all' } | { kind: 'tag'; value: string } | { kind: 'account'; id: string }

/** What the sentences leave open. */
export type Slots = {
  who: Who
  action: string
  where: Where
  /** The longest time. */
  seconds: number
  /** Minutes since midnight: from the first of them until before the other. */
  from: number
  until: number
}

export type Slot = keyof Slots

/** The slots that the sentence of each template has. */
export const slotsOf: Readonly<Record<Template, readonly Slot[]>> = {
  at_once: ['who', 'action', 'where', 'seconds'],
  approval: ['who', 'where'],
  administrator: ['who', 'action', 'where', 'seconds'],
  emergency: ['who', 'action', 'where', 'seconds'],
  working_hours: ['who', 'action', 'where', 'from', 'until', 'seconds'],
}

/** The tag by which accounts are chosen. */
export const tag = 'env'

type EntityScope = 'any' | 'eq' | 'in' | 'is' | 'is_in'

/** A rule as a template writes it: fields of the API. */
export type RuleFields = {
  effect: 'permit' | 'forbid'
  approval_mode: 'auto' | 'require' | 'break_glass'
  principal_scope_type?: EntityScope
  principal_entity_type?: string
  principal_entity_id?: string
  action_scope_type?: 'eq'
  action_ids?: string[]
  resource_scope_type?: EntityScope
  resource_entity_type?: string
  resource_entity_id?: string
  conditions?: string
}

/**
 * The rule that the sentence says. Values stay values in fields, and are quoted in conditions: no name, id or tag changes what a rule
 * means. A forbid covers what lies in the accounts too; a permit covers the accounts alone, or their databases alone.
 */
export function ruleOf(template: Template, slots: Slots): RuleFields {
  const { action, where } = slots
  const mode = modes[template]
  const conditions = [
    ...tagged(where),
    ...(template === 'working_hours' ? within(slots) : []),
    ...(template === 'approval' ? [] : [`context.duration_seconds <= ${slots.seconds}`]),
  ]
  return {
    ...mode,
    ...principalOf(slots.who),
    ...(template !== 'approval' && { action_scope_type: 'eq', action_ids: [action] }),
    ...resourceOf(template, where),
    ...(conditions.length > 0 && { conditions: `when { ${conditions.join(' && ')} }` }),
  }
}

const modes: Readonly<Record<Template, Pick<RuleFields, 'effect' | 'approval_mode'>>> = {
  at_once: { effect: 'permit', approval_mode: 'auto' },
  // Another permit may approve at once. Only a forbid of that makes an approval necessary.
  approval: { effect: 'forbid', approval_mode: 'auto' },
  administrator: { effect: 'permit', approval_mode: 'require' },
  emergency: { effect: 'permit', approval_mode: 'break_glass' },
  working_hours: { effect: 'permit', approval_mode: 'auto' },
}

function principalOf(who: Who): Partial<RuleFields> {
  if (who.kind === 'everyone') return {}
  const type = who.kind === 'group' ? 'Group' : 'Role'
  return { principal_scope_type: 'in', principal_entity_type: type, principal_entity_id: who.id }
}

function resourceOf(template: Template, where: Where): Partial<RuleFields> {
  const account = where.kind === 'account' ? where.id : undefined
  if (template === 'approval') return account === undefined ? {} : entity('in', 'cloud_account', account)
  if (template === 'working_hours')
    return account === undefined
      ? entity('is', 'cloud_db_instance')
      : entity('is_in', 'cloud_db_instance', `cloud_account::${JSON.stringify(account)}`)
  return account === undefined ? entity('is', 'cloud_account') : entity('eq', 'cloud_account', account)
}

const entity = (scope: EntityScope, type: string, id?: string): Partial<RuleFields> => ({
  resource_scope_type: scope,
  resource_entity_type: type,
  ...(id !== undefined && { resource_entity_id: id }),
})

const tagged = (where: Where): string[] =>
  where.kind === 'tag' ? [`resource.hasTag("${tag}")`, `resource.getTag("${tag}") == ${quoted(where.value)}`] : []

/** Monday to Friday, in the time zone of the organization. */
const within = ({ from, until }: Slots): string[] => [
  'context.weekday <= 5',
  `context.minute >= ${from}`,
  `context.minute < ${until}`,
]

const hour = 3_600

/** The longest times that a sentence offers. */
const offered = [900, 1_800, hour, 2 * hour, 4 * hour, 8 * hour, 12 * hour, 24 * hour]

/** Those that the organization allows, and the one that is chosen. */
export function offeredLimits(longest: number, chosen: number): number[] {
  const within = offered.filter((seconds) => seconds <= longest)
  return [...new Set([...within, chosen])].sort((one, other) => one - other)
}

type Facts = {
  /** The values of the tag that accounts have. */
  tags: readonly string[]
  /** The longest time that the organization allows. */
  longest: number
}

/** What a template begins with. */
export function startingSlots(template: Template, { tags, longest }: Facts): Slots {
  const production = tags.find((value) => /^prod/i.test(value))
  return {
    who: { kind: 'everyone' },
    action: startingActions[template],
    where: template === 'approval' && production !== undefined ? { kind: 'tag', value: production } : { kind: 'all' },
    seconds: Math.min(template === 'administrator' || template === 'emergency' ? hour : 4 * hour, longest),
    from: 9 * 60,
    until: 17 * 60,
  }
}

const startingActions: Readonly<Record<Template, string>> = {
  at_once: 'ReadOnlyAccess',
  approval: '',
  administrator: 'AdministratorAccess',
  emergency: 'AdministratorAccess',
  working_hours: 'read',
}

/** What keeps the sentence from being a rule. */
export type Fault = 'action' | 'hours'

export function faultOf(template: Template, { action, from, until }: Slots): Fault | undefined {
  if (slotsOf[template].includes('action') && !isAction(action)) return 'action'
  if (template === 'working_hours' && from >= until) return 'hours'
  return undefined
}

/** Whether a request can name it: `approve` is the action of deciding, and what begins with `__` is reserved. */
function isAction(action: string): boolean {
  const isVisible = /^[^\p{C}\p{Zl}\p{Zp}]{1,256}$/u.test(action) && action.trim() === action
  return isVisible && action !== 'approve' && !action.startsWith('__')
}
