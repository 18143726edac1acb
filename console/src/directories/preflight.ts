import type { Schemas } from '@sallyport/client'

export type Preflight = Schemas['Preflight']
type Counts = Preflight['counts']
type Matched = Preflight['people'][number]

/** What several calls say of the parts of one list. */
export function joined(parts: readonly Preflight[]): Preflight {
  const [first, ...others] = parts
  if (first === undefined) throw new Error('nothing was asked')
  return others.reduce(
    (all, part) => ({
      counts: sumOf(all.counts, part.counts),
      targets: all.targets.map((target) => ({
        ...target,
        not_found: target.not_found + (part.targets.find(isOf(target))?.not_found ?? 0),
      })),
      people: [...all.people, ...part.people],
    }),
    first,
  )
}

const isOf =
  ({ provisioner_id }: { provisioner_id: string }) =>
  (other: { provisioner_id: string }) =>
    other.provisioner_id === provisioner_id

function sumOf(one: Counts, other: Counts): Counts {
  const names = Object.keys(one) as (keyof Counts)[]
  return Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as Counts
}

/** The counts that say something, in the order in which they are read: all but zeros. */
export const saidCounts = (counts: Counts): [Exclude<keyof Counts, 'people'>, number][] =>
  (['known', 'added', 'adopted', 'to_settle', 'left_out', 'refused'] as const).flatMap((name) =>
    counts[name] === 0 ? [] : [[name, counts[name]]],
  )

/** Somebody at this place of the list at whom a person should look. */
export type Exception = Matched & { at: number }

/** Those who would not simply be a user, or are missing at a target. */
export const exceptionsOf = ({ people }: Pick<Preflight, 'people'>): Exception[] =>
  people
    .map((person, at) => ({ ...person, at }))
    .filter(({ match, not_found_at }) => ['settle', 'left_out', 'refused'].includes(match) || not_found_at.length > 0)
