import type { Schemas } from '@sallyport/client'
import { useState } from 'react'
import type { Choice } from '../access/choice.ts'
import { useMe } from '../me/me.ts'
import { useDraft } from '../parts/draft.ts'
import type { RequestInput } from './queries.ts'

export type Entries = readonly Schemas['CatalogueEntry'][]

/** What a person has entered in the form of a request, and what the catalogue and the tenant's limits say of it. */
export function useRequestEntry(choice: Choice, entries: Entries) {
  const { limits } = useMe()
  const action = choice.action ?? entries[0]?.action ?? ''
  const entry = entries.find((each) => each.action === action)
  const [isEmergency, setEmergency] = useState(false)
  // The catalogue knows how long an ordinary request may be. Of an emergency only the answer says it.
  const longest = (isEmergency ? undefined : entry?.max_duration_seconds) ?? limits.max_duration_seconds
  const usual = Math.min(entry?.duration_seconds ?? limits.default_duration_seconds, longest)
  const [seconds, setSeconds] = useState<number | undefined>(choice.duration ?? usual)
  const [reason, setReason, clearReason] = useDraft(`request:${choice.type}/${choice.id}`)
  const needsReason = isEmergency || limits.require_reason || entry?.needs_reason === true
  const hasReason = reason.trim() !== ''
  const input = (text: string | null): RequestInput => ({
    ...{ resource: { type: choice.type, id: choice.id }, action, break_glass: isEmergency, reason: text },
    duration_seconds: seconds ?? usual,
  })
  return {
    ...{
      action,
      description: entry?.action_description,
      usual,
      longest,
      seconds,
      setSeconds,
      isEmergency,
      setEmergency,
    },
    ...{ reason, setReason, clearReason, needsReason, lacksReason: needsReason && !hasReason },
    request: input(reason.trim() || null),
    /** Rules see whether there is a reason, and never its text: any text gets the same answer. */
    question: input(hasReason || needsReason ? 'reason' : null),
  }
}
