import { type Static, Type } from 'typebox'
import { Body, DateTime, OneOf, Uuid } from '../http/schema.ts'
import { Problem } from '../kernel/errors.ts'

/** Who writes a group and its members: people here, or a directory alone. */
export const groupSources = ['local', 'scim', 'identity_provider'] as const
export type GroupSource = (typeof groupSources)[number]

/** One line with something on it. Need not be unique. */
const GroupName = Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\p{Cc}\\S]*[^\\p{Cc}\\s]\\P{Cc}*$' })
const GroupDescription = Type.String({ maxLength: 2000 })

/** A group as answered. */
export const Group = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    source: OneOf(groupSources, { description: 'who writes it: people here (`local`), or a directory alone' }),
    description: Type.Optional(Type.String({ description: 'left out when empty' })),
    member_count: Type.Integer(),
    role_mappings: Type.Array(Type.String(), { description: 'ids of the roles that its members hold by it' }),
    created_at: DateTime,
    updated_at: DateTime,
  },
  { title: 'Group' },
)
export type Group = Static<typeof Group>

/** A group as its row holds it. */
export type GroupRow = Omit<Group, 'description'> & { description: string }

export function asGroup({ description, ...row }: GroupRow): Group {
  return description === '' ? row : { ...row, description }
}

/** That a user belongs to a group. */
export const GroupMember = Type.Object(
  {
    group_id: Uuid,
    user_id: Uuid,
    membership_source: OneOf(groupSources, { description: 'who made them a member' }),
    created_at: DateTime,
  },
  { title: 'GroupMember' },
)
export type GroupMember = Static<typeof GroupMember>

export const NewGroupInput = Body({ name: GroupName, description: Type.Optional(GroupDescription) })

export const GroupChange = Body({
  name: Type.Optional(GroupName),
  description: Type.Optional(Type.String({ maxLength: 2000, description: 'empty takes it away' })),
})
export type GroupChange = Static<typeof GroupChange>

/** A group and one of its members in a path. */
export const MemberParams = Type.Object({ id: Uuid, user_id: Uuid })

/** What stands between an actor and a change of a group's members. */
export type Membership = {
  source: GroupSource
  /** The scopes that the group gives its members. */
  conferred: string[]
  is_member: boolean
}

/** @throws Problem 403 for a group that a directory writes: it would write it back. */
export function requireLocal({ source }: { source: GroupSource }): void {
  if (source === 'local') return
  const message = `this group is kept by its source, \`${source}\`; change it there`
  throw new Problem('forbidden', message, { details: { source } })
}

/** 404 of endpoint 13: which of the two is missing is not told. */
export function noGroupOrUser(): Problem {
  return new Problem('not_found', 'group or user not found')
}
