import { type Static, Type } from 'typebox'
import { DateTime, Nullable, OneOf } from '../http/schema.ts'
import { inventoryParts } from '../provisioners/target-inventory.ts'

const Part = Type.Object(
  {
    part: OneOf(inventoryParts),
    finished_at: Nullable(Type.String({ ...DateTime, description: 'when it was last read to its end; null: never' })),
    next_at: Nullable(Type.String({ ...DateTime, description: 'when it is read next; null: it is being read' })),
    reading: Type.Boolean(),
    error: Nullable(
      Type.String({ description: 'why it could not be read, and how to fix that, or what the lists leave out' }),
    ),
  },
  { title: 'InventoryPart' },
)

const Count = Nullable(Type.Integer())

/** How long the sessions of a permission set last. */
const LongSession = Type.Object({ id: Type.String(), name: Type.String(), session_seconds: Type.Integer() })

/** What the target of a provisioner says of itself, as a summary. */
export const Inventory = Type.Object(
  {
    parts: Type.Array(Part, { description: 'empty: the target is of a type that is not read, or was not tested yet' }),
    counts: Type.Object(
      {
        accounts: Count,
        organizational_units: Count,
        permission_sets: Count,
        databases: Count,
        people: Count,
        groups: Count,
        assignments: Count,
        administrators: Nullable(
          Type.Integer({
            description: 'people who hold a set that makes an administrator, themselves or by a group, on any account',
          }),
        ),
      },
      { description: 'as of when the part was read; null: not read yet' },
    ),
    unmatched_users: Nullable(
      Type.Integer({
        description:
          'active users whom the target would not find; 1000: that or more; null: its people were not read yet',
      }),
    ),
    longest_grant_seconds: Type.Integer({ description: 'the setting `requests.max_duration_seconds`' }),
    long_sessions: Type.Array(LongSession, {
      description: 'permission sets whose sessions outlive the longest grant, at most 100',
    }),
  },
  { title: 'Inventory' },
)
export type Inventory = Static<typeof Inventory>
export type InventoryCounts = Inventory['counts']

export const noCounts: InventoryCounts = {
  accounts: null,
  organizational_units: null,
  permission_sets: null,
  databases: null,
  people: null,
  groups: null,
  assignments: null,
  administrators: null,
}

/** What a part counted when it was last read to its end. */
export type PartCounts = Pick<Inventory['parts'][number], 'part' | 'finished_at'> & {
  counts: Partial<Record<keyof InventoryCounts, number>> | null
}

/**
 * The counts of all parts. Administrators follow from three of them: each counts them, the last one to be read counts, and as long as one was
 * never read, nobody can say how many there are.
 */
export function mergeCounts(parts: readonly PartCounts[]): InventoryCounts {
  const inOrder = [...parts].sort((one, other) => (one.finished_at ?? '').localeCompare(other.finished_at ?? ''))
  const merged = Object.assign({}, noCounts, ...inOrder.map(({ counts }) => counts)) as InventoryCounts
  const known = ['permission_sets', 'people', 'assignments'] as const
  return known.every((one) => merged[one] !== null) ? merged : { ...merged, administrators: null }
}

/** A user whom the target would not find. */
export const UnmatchedUser = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    email: Type.String(),
    looked_for: Type.String({ description: 'the user name that the directory does not have' }),
    why: OneOf(['not_in_directory', 'other_domain'], {
      description: '`other_domain`: the address is not of the one domain whose local parts are user names',
    }),
  },
  { title: 'UnmatchedUser' },
)
export type UnmatchedUser = Static<typeof UnmatchedUser>
