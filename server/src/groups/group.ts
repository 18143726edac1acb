import { type Static, Type } from 'typebox'
import { Body, DateTime, Name, OneOf, Uuid } from '../http/schema.ts'
import { Problem } from '../kernel/errors.ts'

/** Where a group and its members are managed: here, or in a directory only. */
export const groupSources = ['local', 'scim', 'identity_provider'] as const
export type GroupSource = (typeof groupSources)[number]

const GroupName = Name(200, { description: 'need not be unique' })
const GroupDescription = Type.String({ maxLength: 2000 })

/** A group as returned by the API. */
export const Group = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    source: OneOf(groupSources, { description: 'where it is managed: here (`local`), or in a directory only' }),
    description: Type.Optional(Type.String({ description: 'omitted when empty' })),
    member_count: Type.Integer(),
    role_mappings: Type.Array(Type.String(), { description: 'ids of the roles that its members hold through it' }),
    created_at: DateTime,
    updated_at: DateTime,
  },
  { title: 'Group' },
)
export type Group = Static<typeof Group>

/** A group as stored. */
export type GroupRow = Omit<Group, 'description'> & { description: string }

export function asGroup({ description, ...row }: GroupRow): Group {
  return description === '' ? row : { ...row, description }
}

/** A user's membership in a group. */
export const GroupMember = Type.Object(
  {
    group_id: Uuid,
    user_id: Uuid,
    membership_source: OneOf(groupSources, { description: 'the source of the membership' }),
    created_at: DateTime,
  },
  { title: 'GroupMember' },
)
export type GroupMember = Static<typeof GroupMember>

export const NewGroupInput = Body({ name: GroupName, description: Type.Optional(GroupDescription) })

export const GroupChange = Body({
  name: Type.Optional(GroupName),
  description: Type.Optional(Type.String({ maxLength: 2000, description: 'empty removes it' })),
})
export type GroupChange = Static<typeof GroupChange>

/** A group and one of its members in a path. */
export const MemberParams = Type.Object({ id: Uuid, user_id: Uuid })

/** The facts that decide whether an actor may change a group's members. */
export type Membership = {
  source: GroupSource
  /** The scopes that the group gives its members. */
  conferred: string[]
  is_member: boolean
}

/** @throws Problem 403 for a group that a directory manages, because the directory would undo the change. */
export function requireLocal({ source }: { source: GroupSource }): void {
  if (source === 'local') return
  const message = `this group is managed by its source, \`${source}\`; change it there`
  throw new Problem('forbidden', message, { details: { source } })
}

/** 404 of endpoint 13: the error does not reveal which of the two is missing. */
export function noGroupOrUser(): Problem {
  return new Problem('not_found', 'group or user not found')
}
