import { type Static, Type } from 'typebox'
import { Body, DateTime, Nullable, OneOf, Uuid } from '../../http/schema.ts'
import { Problem } from '../../kernel/errors.ts'
import { areMany } from '../../scim/users/removal.ts'

export const SyncRunParams = Type.Object({ id: Uuid, run_id: Uuid })

export const NewSync = Body({
  dry_run: Type.Optional(
    Type.Boolean({
      description:
        'reads the directory and says what would change; default: `dry_run` of the config. Not beside a confirmation',
    }),
  ),
  confirm_removals_of: Type.Optional(
    Type.String({ ...Uuid, description: 'a run that `needs_confirmation`: those whom it would have removed may go' }),
  ),
})
export type NewSync = Static<typeof NewSync>

const Count = (description: string) => Type.Integer({ description })

const SyncCounts = Type.Object(
  {
    people: Count('people whom the directory has'),
    unchanged: Count('users here who are as the directory says'),
    added: Count('users made'),
    adopted: Count('accounts made for the sign-in provider before, which the directory manages from then on'),
    changed: Count('users changed'),
    enabled: Count('users activated again'),
    disabled: Count('users deactivated: disabled in the directory, or no longer there'),
    to_settle: Count('people whose address another user has: see the conflicts of the provider'),
    left_out: Count('people who are disabled there and no users here, or whom a person kept apart'),
    failed: Count('people with whom it could not be done'),
    groups: Count('groups that the directory has'),
    groups_added: Count('groups made'),
    groups_changed: Count('groups whose name or members changed'),
    groups_emptied: Count(
      'groups that are no longer there, or have no members there: they lose their members, and keep their roles',
    ),
    groups_failed: Count('groups with which it could not be done'),
  },
  { title: 'SyncCounts', description: 'of a dry run and of a run that was stopped: what would be done' },
)
export type SyncCounts = Static<typeof SyncCounts>

const SyncProgress = Type.Object(
  {
    phase: Nullable(
      OneOf(['reading', 'people', 'groups'], {
        description:
          'what is read or written now: everything is read before anything is written; null: not begun, or finished',
      }),
    ),
    people_read: Type.Integer({ description: 'people read so far' }),
    groups_read: Type.Integer({ description: 'groups read so far' }),
    done: Type.Integer({ description: 'changes written' }),
    total: Nullable(Type.Integer({ description: 'changes to be written; null: not known yet' })),
  },
  { title: 'SyncProgress' },
)

/** One sync run: a reading of a directory, and the writing of what differs. */
export const SyncRun = Type.Object(
  {
    id: Uuid,
    identity_provider_id: Uuid,
    status: OneOf(['pending', 'syncing', 'synced', 'failed'], {
      description: '`failed` with `needs_confirmation`: nothing was written; confirm it, or correct the directory',
    }),
    dry_run: Type.Boolean({ description: 'nothing is written' }),
    requested_by: Nullable(Type.String({ ...Uuid, description: 'null: the schedule' })),
    confirms: Nullable(Type.String({ ...Uuid, description: 'the run whose removals were confirmed' })),
    progress: SyncProgress,
    counts: Nullable(SyncCounts),
    needs_confirmation: Type.Boolean({
      description: 'too many users or groups would go: nothing was written, and `confirm_removals_of` lets them go',
    }),
    error: Nullable(Type.String({ description: 'why it failed, and how to fix that' })),
    due_at: Nullable(Type.String({ ...DateTime, description: 'when a pending run begins' })),
    created_at: DateTime,
    started_at: Nullable(DateTime),
    finished_at: Nullable(DateTime),
  },
  { title: 'SyncRun' },
)
export type SyncRun = Static<typeof SyncRun>

/** How fast access ended for the users whom a run deactivated. */
const EndedAccess = Type.Object(
  {
    grants: Type.Integer({ description: 'live grants that were ended' }),
    gone: Type.Integer({ description: 'of these, those whose access is gone at the target' }),
    slowest_seconds: Nullable(
      Type.Number({ description: 'the longest time from the end of a grant until its access was gone' }),
    ),
  },
  { title: 'SyncEndedAccess' },
)

export const SyncRunDetail = Type.Object({ ...SyncRun.properties, access: EndedAccess }, { title: 'SyncRunDetail' })
export type SyncRunDetail = Static<typeof SyncRunDetail>

export const personChanges = [
  'add',
  'adopt',
  'change',
  'enable',
  'disable',
  'absent',
  'settle',
  'left_out',
  'invalid',
] as const
export type PersonChange = (typeof personChanges)[number]

export const changeKinds = ['user', 'group'] as const
export const allChanges = [...personChanges, 'empty'] as const
export const outcomes = ['planned', 'done', 'refused', 'none'] as const

/** What a sync run does with a person or a group. */
export const SyncChange = Type.Object(
  {
    kind: OneOf(changeKinds),
    source_id: Type.String({ description: 'the id in the directory' }),
    user_name: Nullable(Type.String({ description: 'null for a group' })),
    name: Nullable(Type.String()),
    email: Nullable(Type.String()),
    id: Nullable(Type.String({ ...Uuid, description: 'the user or the group here' })),
    change: OneOf(allChanges, {
      description:
        '`add`: made. `adopt`: an account made for the sign-in provider, managed by the directory from then on. `change`: a change of what ' +
        'the directory says. `enable`: active again. `disable`: disabled in the directory. `absent`: no longer in the directory, and ' +
        'deactivated. `settle`: another user has the address, a conflict of the provider. `left_out`: disabled there and no user here, or ' +
        'kept apart by a person. `empty`: a group loses its members. `invalid`: the directory’s data cannot be used',
    }),
    outcome: OneOf(outcomes, { description: '`refused`: `message` says why; `none`: nothing is done' }),
    message: Nullable(Type.String({ description: 'why it was not done' })),
  },
  { title: 'SyncChange' },
)
export type SyncChange = Static<typeof SyncChange>

/** How many rows of each kind of change a run has, with a message (`failed`) or without. */
export type ChangeCount = { of: 'person' | 'group'; change: string; failed: boolean; absent: boolean; count: number }

/** The counts of a run, from those of its rows. What could not be done counts as failed alone. */
export function countsOf(rows: readonly ChangeCount[]): SyncCounts {
  const sum = (of: 'person' | 'group', ...changes: string[]) =>
    rows.reduce((all, row) => (row.of === of && !row.failed && changes.includes(row.change) ? all + row.count : all), 0)
  const failed = (of: 'person' | 'group') =>
    rows.reduce((all, row) => (row.of === of && row.failed ? all + row.count : all), 0)
  const all = (of: 'person' | 'group') =>
    rows.reduce((total, row) => (row.of === of && !row.absent ? total + row.count : total), 0)
  return {
    people: all('person'),
    unchanged: sum('person', 'unchanged'),
    added: sum('person', 'add'),
    adopted: sum('person', 'adopt'),
    changed: sum('person', 'change'),
    enabled: sum('person', 'enable'),
    disabled: sum('person', 'disable', 'absent'),
    to_settle: sum('person', 'settle'),
    left_out: sum('person', 'left_out'),
    failed: failed('person'),
    groups: all('group'),
    groups_added: sum('group', 'add'),
    groups_changed: sum('group', 'change'),
    groups_emptied: sum('group', 'empty'),
    groups_failed: failed('group'),
  }
}

/** Whether a run with these counts changed users or groups: not if the same conflicts and faults were found once more. */
export function changesSomething(counts: SyncCounts): boolean {
  const { added, adopted, changed, enabled, disabled, groups_added, groups_changed, groups_emptied } = counts
  return added + adopted + changed + enabled + disabled + groups_added + groups_changed + groups_emptied > 0
}

/** The changes of people that are written, in this order: nobody who is to go waits for those who come. */
export const writingOrder = [
  'disable',
  'absent',
  'enable',
  'adopt',
  'change',
  'add',
  'settle',
] as const satisfies readonly PersonChange[]

/** Those of people and of groups. */
const written = new Set<string>([...writingOrder, 'empty'])

/** How many changes are to be written. */
export function countWritten(rows: readonly ChangeCount[]): number {
  return rows.reduce((sum, row) => (written.has(row.change) && !row.failed ? sum + row.count : sum), 0)
}

/**
 * What would go, of how many there are. `recent`: who went within the last hour. `read`: how many people the directory has.
 * `under_other_ids`: how many of those who go are in the directory under another id.
 */
export type Going = Record<
  'people' | 'people_before' | 'recent' | 'groups' | 'groups_before' | 'read' | 'under_other_ids',
  number
>

/** So many are too many if they are all, although a directory that pushes may remove as few. */
const minAll = 3

/**
 * Why a run must not go on until a person confirms it; undefined where it may. A filter with a typing error, an account that lost a right,
 * or a directory that was emptied takes many at once.
 */
export function findTooMany(going: Going): string | undefined {
  const { people, people_before, recent, groups, groups_before, read, under_other_ids } = going
  if (people > 0 && read === 0) return `the directory is empty, and ${people} users would be deactivated`
  if (people > 0 && areTooMany(people + recent, people_before)) {
    const before = recent === 0 ? '' : `, after ${recent} within the last hour`
    const others = `; ${under_other_ids} of them are in the directory under another id: check which attribute is the id`
    return `${people} of ${people_before} users would be deactivated${before}${under_other_ids === 0 ? '' : others}`
  }
  if (areTooMany(groups, groups_before)) return `${groups} of ${groups_before} groups would lose all their members`
  return undefined
}

function areTooMany(removed: number, size: number): boolean {
  return areMany({ removed, size }) || (removed >= minAll && removed >= size)
}

/** The run that is under way: it is not of the kind that is asked for. */
export function syncInProgress(run_id: string): Problem {
  const message = 'a run of this directory is under way; wait until it ends'
  return new Problem('sync_in_progress', message, { details: { run_id } })
}
