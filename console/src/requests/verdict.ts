import type { Schemas } from '@sallyport/client'
import type { Words } from '../words/words.ts'

type Preview = Schemas['RequestPreview']

/** What would make the request pass, as a change of the form. */
export type Suggestion = { text: string; change: { duration_seconds?: number; action?: string } }

export type Verdict = {
  tone: 'ok' | 'wait' | 'bad'
  text: string
  suggestion?: Suggestion | undefined
  /** More about what would be allowed, in the words of the service. */
  nearest: readonly string[]
}

/** The answer that a request would get, in one line, and the nearest change that passes. */
export function verdictOf(preview: Preview, asked: { duration_seconds: number }, words: Words): Verdict {
  const { verdict } = words.requests
  if (preview.allowed) return { ...allowed(preview, words), nearest: [] }
  const { max_duration_seconds: longest } = preview
  const misses = preview.nearest ?? []
  const nearest = misses.map((miss) => miss.words)
  if (longest !== null && longest > 0 && longest < asked.duration_seconds) {
    const text = words.time.duration(longest)
    return {
      tone: 'bad',
      text: verdict.notAllowedFor(text),
      suggestion: { text: verdict.takeDuration(text), change: { duration_seconds: longest } },
      nearest: [],
    }
  }
  const suggestion = suggestionOf(misses, words)
  const { duration_seconds: seconds, action } = suggestion?.change ?? {}
  const isOnlyLonger = seconds !== undefined && action === undefined
  const text = isOnlyLonger ? verdict.notAllowedFor(words.time.duration(seconds)) : verdict.notAllowed
  return { tone: 'bad', text, suggestion, nearest }
}

function allowed(preview: Preview, words: Words): Pick<Verdict, 'tone' | 'text'> {
  const { verdict, people } = words.requests
  if (preview.approval_mode !== 'require') return { tone: 'ok', text: verdict.atOnce }
  const { may_decide } = preview
  if (may_decide === undefined) return { tone: 'wait', text: verdict.needsApproval }
  const { names, count, is_complete: isComplete } = may_decide
  if (count === 0 && isComplete) return { tone: 'bad', text: verdict.nobody }
  const who = people({ names, count, isComplete })
  return { tone: 'wait', text: count === 1 && isComplete ? verdict.needsOnly(who) : verdict.needsOne(who, count) }
}

/** A change that one click can make: a duration, an action, or both. */
function suggestionOf(misses: NonNullable<Preview['nearest']>, words: Words): Suggestion | undefined {
  const { verdict } = words.requests
  for (const { duration_seconds = undefined, action = undefined, also } of misses) {
    const change = {
      ...((duration_seconds ?? also?.duration_seconds) !== undefined && {
        duration_seconds: Number(duration_seconds ?? also?.duration_seconds),
      }),
      ...((action ?? also?.action) !== undefined && { action: String(action ?? also?.action) }),
    }
    // What else is missing, no click can change.
    if (also != null && also.duration_seconds === undefined && also.action === undefined) continue
    const parts = [
      ...(change.action === undefined ? [] : [verdict.takeAction(change.action)]),
      ...(change.duration_seconds === undefined
        ? []
        : [verdict.takeDuration(words.time.duration(change.duration_seconds))]),
    ]
    if (parts.length > 0) return { text: parts.join(', '), change }
  }
  return undefined
}
