import type { Schemas } from '@sallyport/client'

/** A reading of a directory, without the list of what it did. */
export type Run = Schemas['SyncRun']
export type RunDetail = Schemas['SyncRunDetail']
export type Counts = NonNullable<Schemas['SyncCounts']>

type Facts = Pick<Run, 'status' | 'dry_run' | 'requested_by' | 'needs_confirmation' | 'finished_at'>

/** Whether the schedule has it begin later: nobody asked for it. */
const isScheduled = ({ status, requested_by }: Facts): boolean => status === 'pending' && requested_by === null

/** Those that began, or that a person asked for: the newest first. */
export const begun = <One extends Facts>(runs: readonly One[]): One[] => runs.filter((run) => !isScheduled(run))

/** The one that goes on; one that was interrupted waits, and then goes on. */
export const underWay = <One extends Facts>(runs: readonly One[]): One | undefined =>
  begun(runs).find(({ finished_at }) => finished_at === null)

/** The next one by the schedule. */
export const nextOf = <One extends Facts>(runs: readonly One[]): One | undefined => runs.find(isScheduled)

/** Whether a person may still confirm the removals of a run: what was read and written since says otherwise. */
export function isConfirmable(run: Facts, runs: readonly Facts[]): boolean {
  const { needs_confirmation, finished_at } = run
  if (!needs_confirmation || finished_at === null) return false
  return !runs.some(
    (other) =>
      other.status === 'synced' &&
      !other.dry_run &&
      other.finished_at !== null &&
      Date.parse(other.finished_at) > Date.parse(finished_at),
  )
}

/** The newest run that ended, if a person has to confirm it. */
export function waiting<One extends Facts>(runs: readonly One[]): One | undefined {
  const [last] = begun(runs).filter(({ finished_at }) => finished_at !== null)
  return last !== undefined && isConfirmable(last, runs) ? last : undefined
}

/** How a run came out. `stopped`: too many would go, and nothing was changed. */
export type Outcome = 'waits' | 'going' | 'stopped' | 'failed' | 'looked' | 'read'

export function outcomeOf({ status, dry_run, needs_confirmation }: Facts): Outcome {
  if (status === 'pending') return 'waits'
  if (status === 'syncing') return 'going'
  if (needs_confirmation && !dry_run) return 'stopped'
  if (status === 'failed') return 'failed'
  return dry_run ? 'looked' : 'read'
}

/** Whether its counts say what would be done: of a look, and of a run that was stopped. */
export const isPlan = ({ dry_run, needs_confirmation }: Facts): boolean => dry_run || needs_confirmation

const ofPeople = [
  ...(['added', 'adopted', 'changed', 'enabled', 'disabled', 'to_settle', 'left_out', 'failed'] as const),
] satisfies (keyof Counts)[]
const ofGroups = [
  'groups_added',
  'groups_changed',
  'groups_emptied',
  'groups_failed',
] as const satisfies (keyof Counts)[]

export type Counted = (typeof ofPeople)[number] | (typeof ofGroups)[number]

/** What a run came to, without what is none: how many of each. */
export function countedOf(counts: Counts): { people: [Counted, number][]; groups: [Counted, number][] } {
  const some = (names: readonly Counted[]) =>
    names.map((name): [Counted, number] => [name, counts[name]]).filter(([, count]) => count > 0)
  return { people: some(ofPeople), groups: some(ofGroups) }
}

/** Whether there is a list of what a run did, or would do. */
export function hasChanges({ counts }: Pick<Run, 'counts'>): boolean {
  if (counts === null) return false
  const { people, groups } = countedOf(counts)
  return people.length + groups.length > 0
}

/** Milliseconds between two looks at what goes on, and how often that is looked at by itself. */
const [pollMs, maxPolls] = [1_500, 2_000]
/** At the longest, in milliseconds: the machine may have slept. */
const maxWaitMs = 300_000

/**
 * Milliseconds until the runs are loaded again; false: they stay as they are. The next one by the schedule is waited for. No event says that a
 * run goes on, or that it changed nothing. `polls`: how often they were loaded so far; `now`: in ms since 1970.
 */
export function pollAfter(runs: readonly Run[] | undefined, polls: number, now: number): number | false {
  if (runs === undefined || polls >= maxPolls) return false
  if (underWay(runs) !== undefined) return pollMs
  const due = nextOf(runs)?.due_at ?? null
  if (due === null) return false
  return Math.min(Math.max(Date.parse(due) - now, 0) + pollMs, maxWaitMs)
}

/** The same for one run: it goes on, or access that it ended is still there at its target. */
export function pollRunAfter(run: RunDetail | undefined, polls: number): number | false {
  if (run === undefined || polls >= maxPolls) return false
  return (run.finished_at === null || run.access.gone < run.access.grants) && pollMs
}

/** Where a run is that goes on. */
export function progressOf({ status, progress }: Pick<Run, 'status' | 'progress'>): 'begins' | 'reading' | 'writing' {
  if (status === 'pending' || progress.phase === null) return 'begins'
  return progress.phase === 'reading' ? 'reading' : 'writing'
}
