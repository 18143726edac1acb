import type { Schemas } from '@sallyport/client'
import type { View } from './view.ts'

type Change = Schemas['SyncChange']

/** What a run does with somebody, in the order in which it is offered to filter by. */
export const changes = [
  ...(['absent', 'disable', 'empty', 'add', 'adopt', 'change', 'enable', 'settle', 'left_out', 'invalid'] as const),
] satisfies Change['change'][]

export const outcomes = ['planned', 'done', 'refused', 'none'] as const satisfies readonly Change['outcome'][]

/** By what the changes of a run are filtered. */
export type Filters = { change?: Change['change'] | undefined; outcome?: Change['outcome'] | undefined }

/** The filters of an address; one that is none does not filter. */
export function filtersOf({ change, outcome }: View): Filters {
  return { change: changes.find((one) => one === change), outcome: outcomes.find((one) => one === outcome) }
}
