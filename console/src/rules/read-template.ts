/** The sentence of a stored rule. */
import { tokensOf, unquoted } from './cedar-text.ts'
import { minutesOfDay } from './clock.ts'
import {
  type RuleFields,
  ruleOf,
  type Slots,
  type Template,
  tag,
  templates,
  type Where,
  type Who,
} from './templates.ts'

/** A rule as the API shows it, as far as it decides anything. */
export type StoredRule = { [Field in keyof RuleFields]?: RuleFields[Field] | string | string[] | undefined } & {
  notice?: string | undefined
  audit_session?: boolean | undefined
}

export type FilledTemplate = { template: Template; slots: Slots }

/**
 * The template and the slots of a rule; undefined where no template says exactly what it does.
 * INVARIANT: the slots, written as a rule again, are this rule. So a sentence never says something else than its rule.
 */
export function readTemplate(rule: StoredRule): FilledTemplate | undefined {
  if (rule.notice !== undefined || rule.audit_session === true) return undefined
  const slots = readSlots(rule)
  if (textsOf(slots).some(looksLikeAnother)) return undefined
  const wanted = meaningOf(rule)
  const template = templates.find((each) => meaningOf(ruleOf(each, slots)) === wanted)
  return template === undefined || (template === 'working_hours' && !isWithinDay(slots))
    ? undefined
    : { template, slots }
}

/** Minutes after the end of a day look like those of its beginning, and a time that ends before it begins never comes. */
const isWithinDay = ({ from, until }: Slots) => from < until && until <= minutesOfDay

/** What a sentence shows as it stands in the rule. */
function textsOf({ action, where, who }: Slots): string[] {
  const place = where.kind === 'tag' ? where.value : where.kind === 'account' ? where.id : ''
  return [action, place, who.kind === 'everyone' ? '' : who.id]
}

/** A text with signs that cannot be seen looks like another: in a sentence, it would hide what the rule says. */
const looksLikeAnother = (value: string) => /[\p{C}\p{Zl}\p{Zp}]/u.test(value) || value !== value.trim()

/** The slots as far as a rule seems to have them: whether they are right, `readTemplate` finds out. */
function readSlots(rule: StoredRule): Slots {
  const tokens = conditionTokens(rule.conditions)
  const after = (...before: string[]): string | undefined => {
    const at = tokens.findIndex((_token, index) => before.every((token, offset) => tokens[index + offset] === token))
    return at === -1 ? undefined : tokens[at + before.length]
  }
  const number = (text: string | undefined) => (text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : 0)
  const value = after('resource', '.', 'getTag', `"${tag}"`, '==')
  return {
    who: whoOf(rule),
    action: rule.action_ids?.[0] ?? '',
    where: whereOf(rule, value?.startsWith('"') === true ? unquoted(value) : undefined),
    seconds: number(after('context', '.', 'duration_seconds', '<=')),
    from: number(after('context', '.', 'minute', '>=')),
    until: number(after('context', '.', 'minute', '<')),
  }
}

function whoOf({ principal_entity_type: type, principal_entity_id: id }: StoredRule): Who {
  if (typeof id !== 'string' || (type !== 'Group' && type !== 'Role')) return { kind: 'everyone' }
  return { kind: type === 'Group' ? 'group' : 'role', id }
}

function whereOf({ resource_entity_id: id }: StoredRule, value: string | undefined): Where {
  if (value !== undefined) return { kind: 'tag', value }
  if (typeof id !== 'string') return { kind: 'all' }
  const [, parent] = /^cloud_account::(".*")$/s.exec(id) ?? []
  return { kind: 'account', id: (parent === undefined ? undefined : textOfJson(parent)) ?? id }
}

function textOfJson(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Brackets do not count: the conditions of templates are comparisons that all must hold, and no other places of brackets fit the types.
 */
function conditionTokens(conditions: StoredRule['conditions'] = ''): string[] {
  return tokensOf(String(conditions)).filter((token) => token !== '(' && token !== ')')
}

/** What a rule means, as a text: what is absent and what is the default are the same, and so are two spellings of a string. */
function meaningOf(rule: StoredRule): string {
  const conditions = conditionTokens(rule.conditions).map((token) =>
    token.startsWith('"') ? { string: unquoted(token) ?? token } : token,
  )
  return JSON.stringify([
    ...[rule.effect, rule.approval_mode ?? (rule.effect === 'permit' ? 'require' : '')],
    ...[rule.principal_scope_type ?? 'any', rule.principal_entity_type, rule.principal_entity_id],
    ...[rule.action_scope_type ?? 'any', rule.action_ids ?? []],
    ...[rule.resource_scope_type ?? 'any', rule.resource_entity_type, rule.resource_entity_id],
    conditions,
  ])
}
