/** Cedar as text: strings, and a whole rule as people read it. */
import type { RuleFields } from './templates.ts'

/** A string of Cedar. What is not visible is escaped: a value never ends its string, and never reorders the text around it. */
export function quoted(value: string): string {
  const escaped = value.replace(/[\\"\p{C}]/gu, (character) => {
    if (character === '\\' || character === '"') return `\\${character}`
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
  })
  return `"${escaped}"`
}

const short: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '0': '\0', '\\': '\\', '"': '"', "'": "'" }

/** The value of a string of Cedar; undefined where it has an escape that Cedar does not know. */
export function unquoted(text: string): string | undefined {
  const escapes = /\\(u\{[\da-f]{1,6}\}|x[0-7][\da-f]|.?)/gis
  let isKnown = true
  const value = text.slice(1, -1).replace(escapes, (_escape, what: string) => {
    const character = what.length <= 1 ? short[what] : characterOf(Number.parseInt(what.replace(/[ux{}]/gi, ''), 16))
    if (character === undefined) isKnown = false
    return character ?? ''
  })
  return isKnown ? value : undefined
}

const characterOf = (code: number) => (code <= 0x10ffff ? String.fromCodePoint(code) : undefined)

/** The parts of a text of Cedar, without the space between them. */
export function tokensOf(text: string): string[] {
  return text.match(/"(?:[^"\\]|\\.)*"|\w+|[<>=!]=|&&|\|\||\S/gs) ?? []
}

/** The rule as one statement. */
export function cedarOf(rule: RuleFields): string {
  const { effect, approval_mode: mode, conditions } = rule
  const [action] = rule.action_ids ?? []
  const scopes = [
    scopeOf('principal', rule.principal_scope_type, rule.principal_entity_type, rule.principal_entity_id),
    action === undefined ? 'action' : `action == Action::${quoted(action)}`,
    scopeOf('resource', rule.resource_scope_type, rule.resource_entity_type, rule.resource_entity_id),
  ]
  const head = `${effect} (\n  ${scopes.join(',\n  ')}\n)`
  return `@approval_mode(${quoted(mode)})\n${head}${conditions === undefined ? '' : ` ${conditions}`};`
}

function scopeOf(side: string, scope = 'any', type = '', id = ''): string {
  if (scope === 'any') return side
  if (scope === 'is') return `${side} is ${type}`
  // The id of `is_in` is the parent as Cedar writes it.
  if (scope === 'is_in') return `${side} is ${type} in ${id}`
  return `${side} ${scope === 'eq' ? '==' : 'in'} ${type}::${quoted(id)}`
}
