import type { Schemas } from '@sallyport/client'
import type { BadgeIcon, Tone } from '../parts/badge.tsx'
import type { Words } from '../words/words.ts'

export type AccessRequest = Schemas['NamedAccessRequest']
export type RequestDetail = Schemas['AccessRequestDetail']

export type State = { word: string; tone: Tone; icon: BadgeIcon }

const looks: Record<AccessRequest['status'], Omit<State, 'word'>> = {
  pending: { tone: 'wait', icon: 'clock' },
  approved: { tone: 'ok', icon: 'check' },
  denied: { tone: 'neutral', icon: 'minus' },
  expired: { tone: 'neutral', icon: 'minus' },
  cancelled: { tone: 'neutral', icon: 'minus' },
}

/** The state of a request, as its badge shows it. */
export const requestState = (status: AccessRequest['status'], words: Words): State => ({
  word: words.requests.states[status],
  ...looks[status],
})

type Named = { resource: { id: string }; resource_name: string | null }

/** The name of what is requested: its own, or its id where nobody named it. */
export const nameOf = ({ resource, resource_name }: Named): string => resource_name ?? resource.id

/** An account number in groups of four, as people read it; other ids as they are. */
export const readableId = (id: string): string => (/^\d{12}$/.test(id) ? id.replace(/(\d{4})(?=\d)/g, '$1 ') : id)

/** The choices of shorter time for an approver: common ones, and the requested one last. */
export function shorterDurations(requested: number): number[] {
  const common = [900, 1_800, 3_600, 7_200, 14_400, 28_800].filter((seconds) => seconds < requested)
  return [...common, requested]
}

/** The choices of time for a requester: common ones that are allowed, with the usual and the longest one. */
export function offeredDurations(usual: number, longest: number): number[] {
  const offered = [900, 1_800, 3_600, 14_400, 28_800].filter((seconds) => seconds <= longest)
  return [...new Set([...offered, Math.min(usual, longest), longest])].sort((one, other) => one - other).slice(0, 6)
}
