import { type Static, Type } from 'typebox'
import { Body, DateTime, Nullable, OneOf, Uuid } from '../../http/schema.ts'
import { Problem } from '../../kernel/errors.ts'

export const SyncRunParams = Type.Object({ id: Uuid, run_id: Uuid })

export const NewSync = Body({
  dry_run: Type.Optional(
    Type.Boolean({ description: 'reads the directory and counts what would change; default: `dry_run` of the config' }),
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
    disabled: Count('users deactivated: disabled in the directory, or not there any more'),
    to_settle: Count('people whose address somebody else has: see the conflicts of the provider'),
    left_out: Count('people who are disabled there and no users here, or whom a person kept apart'),
    failed: Count('people with whom it could not be done'),
    groups: Count('groups that the directory has'),
    groups_added: Count('groups made'),
    groups_changed: Count('groups whose name or members changed'),
    groups_emptied: Count('groups that are not there any more: they lose their members, and keep their roles'),
    groups_failed: Count('groups with which it could not be done'),
  },
  { title: 'SyncCounts', description: 'of a dry run and of a run that was stopped: what would be done' },
)
export type SyncCounts = Static<typeof SyncCounts>

const SyncProgress = Type.Object(
  {
    phase: Nullable(OneOf(['reading', 'people', 'groups'], { description: 'null: not begun, or finished' })),
    people_read: Type.Integer(),
    groups_read: Type.Integer(),
    done: Type.Integer({ description: 'changes written' }),
    total: Nullable(Type.Integer({ description: 'changes to be written; null: not known yet' })),
  },
  { title: 'SyncProgress' },
)

/** One reading of a directory. */
export const SyncRun = Type.Object(
  {
    id: Uuid,
    identity_provider_id: Uuid,
    status: OneOf(['pending', 'syncing', 'synced', 'failed']),
    dry_run: Type.Boolean(),
    requested_by: Nullable(Type.String({ ...Uuid, description: 'null: the schedule' })),
    confirms: Nullable(Type.String({ ...Uuid, description: 'the run whose removals were confirmed' })),
    progress: SyncProgress,
    counts: Nullable(SyncCounts),
    needs_confirmation: Type.Boolean({
      description: 'too many users or groups would go: nothing was changed, and `confirm_removals_of` lets them go',
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

/** How fast the access of those went whom a run deactivated. */
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

/** What a run does with a person. */
export const SyncChange = Type.Object(
  {
    source_id: Type.String({ description: 'the id in the directory' }),
    user_name: Nullable(Type.String()),
    name: Nullable(Type.String()),
    email: Nullable(Type.String()),
    user_id: Nullable(Type.String({ ...Uuid, description: 'the user here' })),
    change: OneOf(personChanges, {
      description:
        '`absent`: not in the directory any more, and deactivated here. `settle`: somebody else has the address. ' +
        '`left_out`: nothing is done. `invalid`: the directory’s data cannot be used',
    }),
    message: Nullable(Type.String({ description: 'why it was not done' })),
    done: Type.Boolean({ description: 'false: it would be done' }),
  },
  { title: 'SyncChange' },
)
export type SyncChange = Static<typeof SyncChange>

/** How many rows of each kind of change a run has. `failed`: of these, those with a message. */
export type ChangeCount = { of: 'person' | 'group'; change: string; failed: boolean; count: number }

/** The counts of a run, from those of its rows. What could not be done counts as failed alone. */
export function countsOf(rows: readonly ChangeCount[]): SyncCounts {
  const sum = (of: 'person' | 'group', ...changes: string[]) =>
    rows.reduce((all, row) => (row.of === of && !row.failed && changes.includes(row.change) ? all + row.count : all), 0)
  const failed = (of: 'person' | 'group') =>
    rows.reduce((all, row) => (row.of === of && row.failed ? all + row.count : all), 0)
  const all = (of: 'person' | 'group', gone: string) =>
    rows.reduce((total, row) => (row.of === of && row.change !== gone ? total + row.count : total), 0)
  return {
    people: all('person', 'absent'),
    unchanged: sum('person', 'unchanged'),
    added: sum('person', 'add'),
    adopted: sum('person', 'adopt'),
    changed: sum('person', 'change'),
    enabled: sum('person', 'enable'),
    disabled: sum('person', 'disable', 'absent'),
    to_settle: sum('person', 'settle'),
    left_out: sum('person', 'left_out'),
    failed: failed('person'),
    groups: all('group', 'empty'),
    groups_added: sum('group', 'add'),
    groups_changed: sum('group', 'change'),
    groups_emptied: sum('group', 'empty'),
    groups_failed: failed('group'),
  }
}

/** What would go, of how many there are. Those whose removal a person confirmed are not counted. */
export type Going = { people: number; people_before: number; groups: number; groups_before: number; read: number }

/** Fewer are never too many, in however small a directory. */
const minMany = 5
const maxShare = 0.2

/**
 * Why a run must not go on until a person confirms it; undefined where it may. A filter with a typing error, or a directory that was
 * emptied, takes many at once.
 */
export function findTooMany({ people, people_before, groups, groups_before, read }: Going): string | undefined {
  if (people > 0 && read === 0) return `the directory has nobody any more, and ${people} users would be deactivated`
  if (areMany(people, people_before)) return `${people} of ${people_before} users would be deactivated`
  if (areMany(groups, groups_before)) return `${groups} of ${groups_before} groups would lose all their members`
  return undefined
}

const areMany = (going: number, before: number) => going >= minMany && going > maxShare * before

/** The run that is under way: it is not of the kind that is asked for. */
export function syncInProgress(run_id: string): Problem {
  const message = 'a run of this directory is under way; wait until it ends'
  return new Problem('sync_in_progress', message, { details: { run_id } })
}
