import type { Grant } from '../access/grant.ts'
import type { Words } from '../words/words.ts'
import { nameOf, type RequestDetail } from './request.ts'

export type Step = { at: string; text: string; isPast: boolean; note?: string | undefined }

/** What happened to a request and to the access that it gave, in order, and what will happen. `now`: in ms since 1970. */
export function timelineOf(request: RequestDetail, grants: readonly Grant[], now: number, words: Words): Step[] {
  const { detail } = words.requests
  const steps = [
    { at: request.created_at, text: detail.created(request.requester_name) },
    ...(request.reminded_at === null ? [] : [{ at: request.reminded_at, text: detail.remindedAt }]),
    ...decision(request, words),
    ...grants.flatMap((grant) => stepsOf(grant, words)),
  ]
  return steps
    .map((step) => ({ ...step, isPast: Date.parse(step.at) <= now }))
    .sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
}

function decision(request: RequestDetail, words: Words): Pick<Step, 'at' | 'text' | 'note'>[] {
  const { detail } = words.requests
  const { status, decided_by_name: name, decision_reasoning, duration_seconds, approved_duration_seconds } = request
  if (status === 'pending') return []
  const at = request.updated_at
  // A note is of a person; a rule's reasoning is not a note.
  const note = name === null || decision_reasoning === null ? {} : { note: decision_reasoning }
  if (status === 'expired') return [{ at, text: detail.expired }]
  if (status === 'cancelled') return [{ at, text: detail.cancelled }]
  if (status === 'denied')
    return [{ at, text: name === null ? words.requests.states.denied : detail.denied_(name), ...note }]
  if (name === null) return [{ at, text: detail.approvedByRule }]
  const isShorter = approved_duration_seconds !== null && approved_duration_seconds !== duration_seconds
  const text = isShorter
    ? detail.approvedShorter(name, words.time.duration(approved_duration_seconds))
    : detail.approved(name)
  return [{ at, text, ...note }]
}

function stepsOf(grant: Grant, words: Words): Pick<Step, 'at' | 'text' | 'note'>[] {
  const { detail } = words.requests
  const { activated_at, expires_at, ended_at, end_reason, provisioning, provisioning_status } = grant
  const end = ended_at ?? (grant.status === 'active' ? expires_at : undefined)
  return [
    ...(activated_at === undefined ? [] : [{ at: activated_at, text: detail.activated(nameOf(grant)) }]),
    ...(end === undefined
      ? []
      : [
          {
            at: end,
            text: ended_at === undefined ? detail.ends : detail.ended,
            ...(end_reason !== null && ended_at !== undefined && { note: end_reason }),
          },
        ]),
    ...(provisioning_status === 'deprovisioned' && provisioning != null
      ? [{ at: provisioning.since, text: detail.gone }]
      : []),
  ]
}
