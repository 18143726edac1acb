/** The annotations of a statement: the text form of the fields of the same names. */

import { type ApprovalMode, approvalModes, type Effect } from '../rule.ts'
import type { PolicyJson } from './engine.ts'
import { invalidPolicy, type Source } from './fault.ts'
import { approveAction } from './schema.ts'
import type { ActionScope } from './scope.ts'

/** What a rule says beside its statement; absent = not said. */
export type RuleWords = { notice?: string; audit_session?: boolean; approval_mode?: ApprovalMode }

const noticeLength = 1000

/** What each known annotation puts into the words, or why it cannot. `@id` is left alone: the engine's ids are ours. */
const readers: Record<string, (value: string, words: RuleWords) => string | undefined> = {
  notice(value, words) {
    words.notice = value
    return [...value].length > noticeLength ? `it takes at most ${noticeLength} characters` : undefined
  },
  audit_session(value, words) {
    words.audit_session = value === 'true'
    return value === 'true' || value === 'false' ? undefined : 'it takes `"true"` or `"false"`'
  },
  approval_mode(value, words) {
    const mode = approvalModes.find((one) => one === value)
    if (mode === undefined) return 'it takes `"require"`, `"auto"` or `"break_glass"`'
    words.approval_mode = mode
    return undefined
  },
  id: () => undefined,
}

/** The annotations of a parsed statement, typed; 400 `invalid_policy` for an unknown one or a value it does not take. */
export function readAnnotations(statement: PolicyJson, source: Source): RuleWords {
  const words: RuleWords = {}
  for (const [name, value] of Object.entries(statement.annotations ?? {})) {
    const start = source.text.indexOf(`@${name}`)
    const at = start < 0 ? undefined : { start, end: start + name.length + 1 }
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined
    if (read === undefined) {
      const known = Object.keys(readers).map((one) => `\`@${one}\``)
      throw invalidPolicy(`unknown annotation \`@${name}\``, source, at, `known are ${known.join(', ')}`)
    }
    const help = read(value ?? '', words)
    if (help !== undefined) throw invalidPolicy(`\`@${name}\` has a value that it does not take`, source, at, help)
  }
  return words
}

/** The annotations that say these words; what a rule means without them is left out. */
export function writeAnnotations(words: RuleWords, effect: Effect): Record<string, string> {
  const { notice, audit_session, approval_mode: mode } = words
  return {
    ...(notice ? { notice } : {}),
    ...(audit_session ? { audit_session: 'true' } : {}),
    ...(mode === undefined || (mode === 'require' && effect === 'permit') ? {} : { approval_mode: mode }),
  }
}

/** What a rule ends up with, where these words are said; 400 `invalid_policy` where it can carry no such approval mode. */
export function completeWords(effect: Effect, { ids }: ActionScope, words: RuleWords) {
  const approval_mode = approvalModeOf(effect, ids.includes(approveAction), words.approval_mode)
  return {
    ...(words.notice ? { notice: words.notice } : {}),
    audit_session: words.audit_session ?? false,
    ...(approval_mode === undefined ? {} : { approval_mode }),
  }
}

/** A permit of asking defaults to `require`; a forbid to none: it forbids every kind of approval. */
function approvalModeOf(
  effect: Effect,
  namesApprove: boolean,
  mode: ApprovalMode | undefined,
): ApprovalMode | undefined {
  const refuse = (message: string, help: string) =>
    invalidPolicy(message, { field: 'approval_mode', text: mode ?? '' }, undefined, help)
  if (namesApprove && mode !== undefined)
    throw refuse('a rule about `approve` carries no approval mode', 'leave it out: it belongs to rules about asking')
  if (effect === 'forbid' && mode === 'require')
    throw refuse(
      'a forbid cannot have the approval mode `require`',
      '`auto` forbids approval without a person, `break_glass` the emergency road; without one it forbids every road',
    )
  return mode ?? (effect === 'permit' && !namesApprove ? 'require' : undefined)
}
