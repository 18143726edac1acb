import type { Schemas } from '@sallyport/client'

type Change = Schemas['SyncChange']

/** What a run does with somebody, in the order in which it is offered to filter by. */
export const changes = [
  ...(['absent', 'disable', 'empty', 'add', 'adopt', 'change', 'enable', 'settle', 'left_out', 'invalid'] as const),
] satisfies Change['change'][]

export const outcomes = ['planned', 'done', 'refused', 'none'] as const satisfies readonly Change['outcome'][]

/** What the page of a directory shows, as it stands in the address. `run`: absent for the directory itself. */
export type View = {
  run?: string | undefined
  change?: Change['change'] | undefined
  outcome?: Change['outcome'] | undefined
}

const oneOf = <Value extends string>(values: readonly Value[], text: unknown): Value | undefined =>
  values.find((value) => value === text)

/** The parts of an address that the page knows; anything else in it is dropped. */
export function readView({ run, change, outcome }: Record<string, unknown>): View {
  const [byChange, byOutcome] = [oneOf(changes, change), oneOf(outcomes, outcome)]
  return {
    ...(typeof run === 'string' && run !== '' && { run }),
    ...(byChange !== undefined && { change: byChange }),
    ...(byOutcome !== undefined && { outcome: byOutcome }),
  }
}
