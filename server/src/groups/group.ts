import { type Static, Type } from 'typebox'
import { Body, DateTime, Name, OneOf, Uuid } from '../http/schema.ts'
import { Problem, unknownReferences } from '../kernel/errors.ts'

/** Where a group and its members are managed: here, or in a directory only. */
export const groupSources = ['local', 'scim', 'identity_provider'] as const
export type GroupSource = (typeof groupSources)[number]

const GroupName = Name(200, { description: 'need not be unique' })
const GroupDescription = Type.String({ maxLength: 2000 })
const MembersNotified = Type.Boolean({
  description:
    'false: a user who may decide a request by such groups alone is not notified of it. Emergencies notify every approver.',
})

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

/** A group with what only some callers read of it. */
export const GroupDetail = Type.Object(
  {
    ...Group.properties,
    sign_in_provider_id: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'the sign-in provider whose claims give the memberships, if one does',
      }),
    ),
    members_notified: MembersNotified,
  },
  { title: 'GroupDetail' },
)
export type GroupDetail = Static<typeof GroupDetail>

/** A group as stored. */
export type GroupRow = Omit<GroupDetail, 'description' | 'sign_in_provider_id'> & {
  description: string
  sign_in_provider_id: string | null
}

export function asGroup({ description, sign_in_provider_id: provider, ...row }: GroupRow): GroupDetail {
  const claimed = provider !== null && { sign_in_provider_id: provider }
  return { ...row, ...(description !== '' && { description }), ...claimed }
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

export const NewGroupInput = Body({
  name: GroupName,
  description: Type.Optional(GroupDescription),
  sign_in_provider_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description:
        'the `id` in the sign-in settings: claims of the provider give the memberships, by `group_mappings` there, and nobody else does',
    }),
  ),
  members_notified: Type.Optional(MembersNotified),
})

export const GroupChange = Body({
  name: Type.Optional(GroupName),
  description: Type.Optional(Type.String({ maxLength: 2000, description: 'empty removes it' })),
  members_notified: Type.Optional(MembersNotified),
})
export type GroupChange = Static<typeof GroupChange>

/** The fields of the change that have another value than the group. */
export function differing({ name, description, members_notified }: GroupChange, group: GroupDetail): GroupChange {
  return {
    ...(name !== undefined && name !== group.name && { name }),
    ...(description !== undefined && description !== (group.description ?? '') && { description }),
    ...(members_notified !== undefined && members_notified !== group.members_notified && { members_notified }),
  }
}

/** A group and one of its members in a path. */
export const MemberParams = Type.Object({ id: Uuid, user_id: Uuid })

/** The facts that decide whether an actor may change a group's members. */
export type Membership = {
  source: GroupSource
  /** The scopes that the group gives its members. */
  conferred: string[]
  is_member: boolean
}

/** @throws Problem 403 for a group whose members a directory or a sign-in provider manages, because it would undo the change. */
export function requireLocal({ source }: { source: GroupSource }): void {
  if (source === 'local') return
  const message = `this group is managed by its source, \`${source}\`; change it there`
  throw new Problem('forbidden', message, { details: { source } })
}

/**
 * Groups of the sign-in provider are made here, and only their members come from there.
 * @throws Problem 403 for a group that a directory manages
 */
export function requireMadeHere(group: Pick<GroupDetail, 'source' | 'sign_in_provider_id'>): void {
  if (group.sign_in_provider_id === undefined) requireLocal(group)
}

/** 422: only the provider of the tenant's own sign-in settings has groups. */
export function noSignInProvider(): Problem {
  const why = 'is not the `id` in the sign-in settings of the tenant; GET /v1/settings/sign-in shows it'
  return unknownReferences([{ pointer: '/sign_in_provider_id', why }])
}

/** 404 of endpoint 13: the error does not reveal which of the two is missing. */
export function noGroupOrUser(): Problem {
  return new Problem('not_found', 'group or user not found')
}
