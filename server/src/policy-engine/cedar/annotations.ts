/** The annotations of a statement: the text form of the fields of the same names. */

import { type ApprovalMode, approvalModes, type Effect } from '../rule.ts'
import type { PolicyJson } from './engine.ts'
import { invalidPolicy, type Source } from './fault.ts'
import { approveAction } from './schema.ts'
import type { ActionScope } from './scope.ts'

/** The fields of a rule in addition to its statement; absent = not given. */
export type RuleWords = { notice?: string; audit_session?: boolean; approval_mode?: ApprovalMode }

const noticeLength = 1000

/** How each known annotation is read, or why its value is refused. `@id` is ignored: Sallyport gives the engine its own ids. */
const readers: Record<string, (value: string, words: RuleWords) => string | undefined> = {
  notice(value, words) {
    words.notice = value
    return [...value].length > noticeLength ? `it takes at most ${noticeLength} characters` : undefined
  },
  audit_session(value, words) {
    words.audit_session = value === 'true'
    return value === 'true' || value === 'false' ? undefined : 'use `"true"` or `"false"`'
  },
  approval_mode(value, words) {
    const mode = approvalModes.find((one) => one === value)
    if (mode === undefined) return 'use `"require"`, `"auto"` or `"break_glass"`'
    words.approval_mode = mode
    return undefined
  },
  id: () => undefined,
}

/** The annotations of a parsed statement, typed; 400 `invalid_policy` for an unknown annotation or an invalid value. */
export function readAnnotations(statement: PolicyJson, source: Source): RuleWords {
  const words: RuleWords = {}
  for (const [name, value] of Object.entries(statement.annotations ?? {})) {
    const start = source.text.indexOf(`@${name}`)
    const at = start < 0 ? undefined : { start, end: start + name.length + 1 }
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined
    if (read === undefined) {
      const known = Object.keys(readers).map((one) => `\`@${one}\``)
      throw invalidPolicy(`unknown annotation \`@${name}\``, source, at, `use one of ${known.join(', ')}`)
    }
    const help = read(value ?? '', words)
    if (help !== undefined) throw invalidPolicy(`\`@${name}\` has an invalid value`, source, at, help)
  }
  return words
}

/** The annotations for these fields; a field with its default value gets none. */
export function writeAnnotations(words: RuleWords, effect: Effect): Record<string, string> {
  const { notice, audit_session, approval_mode: mode } = words
  return {
    ...(notice ? { notice } : {}),
    ...(audit_session ? { audit_session: 'true' } : {}),
    ...(mode === undefined || (mode === 'require' && effect === 'permit') ? {} : { approval_mode: mode }),
  }
}

/** The effective fields of a rule, with defaults; 400 `invalid_policy` where the rule cannot have this approval mode. */
export function completeWords(effect: Effect, { ids }: ActionScope, words: RuleWords) {
  const approval_mode = approvalModeOf(effect, ids.includes(approveAction), words.approval_mode)
  return {
    ...(words.notice ? { notice: words.notice } : {}),
    audit_session: words.audit_session ?? false,
    ...(approval_mode === undefined ? {} : { approval_mode }),
  }
}

/** A permit for requests defaults to `require`. A forbid defaults to none and then forbids every kind of approval. */
function approvalModeOf(
  effect: Effect,
  namesApprove: boolean,
  mode: ApprovalMode | undefined,
): ApprovalMode | undefined {
  const refuse = (message: string, help: string) =>
    invalidPolicy(message, { field: 'approval_mode', text: mode ?? '' }, undefined, help)
  if (namesApprove && mode !== undefined)
    throw refuse(
      'a rule about `approve` cannot have an approval mode',
      'leave it out: only rules about requests have one',
    )
  if (effect === 'forbid' && mode === 'require')
    throw refuse(
      'a forbid cannot have the approval mode `require`',
      'use `auto` to forbid approval without a person, `break_glass` to forbid emergency requests, or none to forbid every request',
    )
  return mode ?? (effect === 'permit' && !namesApprove ? 'require' : undefined)
}
