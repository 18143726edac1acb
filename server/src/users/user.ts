import { type Static, Type } from 'typebox'
import { groupSources } from '../groups/group.ts'
import { Body, DateTime, Name, Nullable, OneOf, Uuid } from '../http/schema.ts'
import { emailFault, readEmail } from '../kernel/email-address.ts'
import { type FaultyField, invalidInput, Problem } from '../kernel/errors.ts'
import { isName, nameRule } from '../kernel/one-line-name.ts'
import { type CreationRoleId, creationRoleIds, isCreationRole, requireMayGive, systemRoles } from '../roles/role.ts'
import { Avatar, avatarFault } from './avatar.ts'
import { type StoredFacts, shownFacts } from './fact.ts'

export const authProviders = ['local', 'oidc', 'saml'] as const
export type AuthProvider = (typeof authProviders)[number]

const known = {
  id: Uuid,
  email: Type.String(),
  name: Type.String(),
  roles: Type.Array(Type.String()),
  auth_provider: OneOf(authProviders),
  active: Type.Boolean(),
  email_verified: Type.Boolean(),
  is_owner: Type.Boolean(),
  created_at: DateTime,
  updated_at: DateTime,
  ...shownFacts,
  identity_provider_id: Type.Optional(
    Type.String({ ...Uuid, description: 'the directory that manages the user; left out where nobody else does' }),
  ),
  suspended_until: Type.Optional(
    Type.String({ format: 'date-time', description: 'present while the user is suspended, whatever `active` says' }),
  ),
}

export const User = Type.Object({ ...known, avatar_base64: Nullable(Type.String()) }, { title: 'User' })
export type User = Static<typeof User>

/** A user in a list, without the picture: pictures would make a page of 50 MB. */
export const ListedUser = Type.Object(
  {
    ...known,
    rehearsal: Type.Optional(Type.Boolean({ description: 'present, and true, where the rehearsal made the user' })),
  },
  { title: 'ListedUser' },
)
export type ListedUser = Static<typeof ListedUser>

/** A user's membership in a group. */
export const UserGroup = Type.Object(
  {
    group_id: Uuid,
    group_name: Nullable(Type.String({ description: 'null for callers without `groups:read`' })),
    membership_source: OneOf(groupSources, { description: 'where the membership is managed' }),
    created_at: DateTime,
  },
  { title: 'UserGroup' },
)
export type UserGroup = Static<typeof UserGroup>

/** A record of a user as stored, where null stands for a field that is left out. */
export type Stored<Shown extends ListedUser> = Omit<
  Shown,
  'suspended_until' | 'identity_provider_id' | keyof StoredFacts
> &
  StoredFacts & { suspended_until: string | null; identity_provider_id: string | null }

export function userOf<Shown extends ListedUser>(stored: Stored<Shown>) {
  const { suspended_until, department, title, manager_id, identity_provider_id, ...rest } = stored
  return {
    ...rest,
    ...(department !== null && { department }),
    ...(title !== null && { title }),
    ...(manager_id !== null && { manager_id }),
    ...(identity_provider_id !== null && { identity_provider_id }),
    ...(suspended_until !== null && { suspended_until }),
  }
}

const passwordRule =
  'required for local users, and for them only; as long as the setting `auth.password_min_length` says, at most 128 characters, ' +
  'and none of the most common ones'

/** The body of endpoint 11. */
export const NewUserInput = Body({
  email: Type.String({ maxLength: 1000, description: 'one bare e-mail address' }),
  name: Name(200),
  password: Type.Optional(Type.String({ maxLength: 1000, description: passwordRule })),
  roles: Type.Array(Type.String({ maxLength: 200 }), { maxItems: 500, description: 'user, approver, admin' }),
  auth_provider: Type.Optional(OneOf(authProviders, { description: 'default: `local`' })),
  avatar_base64: Type.Optional(Nullable(Avatar)),
})
export type NewUserInput = Static<typeof NewUserInput>

/** A new, validated user. The password is as typed; undefined for users of a provider. */
export type NewUser = {
  email: string
  name: string
  password: string | undefined
  roles: CreationRoleId[]
  auth_provider: AuthProvider
  avatar_base64: string | null
}

/**
 * Reads and validates a new user.
 * @param passwordFault returns the fault of a password as a half-sentence
 * @throws Problem 400 naming each faulty field, 422 naming the roles that a user cannot be created with
 */
export function readNewUser(input: NewUserInput, passwordFault: (text: string) => string | undefined): NewUser {
  const { name, password, auth_provider = 'local', avatar_base64 = null } = input
  const email = readEmail(input.email)
  const faults: FaultyField[] = [
    ...(email === undefined ? [{ pointer: '/email', why: emailFault }] : []),
    ...fault('/name', nameFault(name)),
    ...fault('/password', passwordNeed(auth_provider, password) ?? wrongIn(password, passwordFault)),
    ...fault('/avatar_base64', wrongIn(avatar_base64, avatarFault)),
  ]
  if (email === undefined || faults.length > 0) throw invalidInput(faults)
  return { email, name, password, roles: requireCreationRoles(input.roles), auth_provider, avatar_base64 }
}

function fault(pointer: string, why: string | undefined): FaultyField[] {
  return why === undefined ? [] : [{ pointer, why }]
}

function wrongIn(text: string | null | undefined, faultOf: (text: string) => string | undefined): string | undefined {
  return typeof text === 'string' ? faultOf(text) : undefined
}

function passwordNeed(provider: AuthProvider, password: string | undefined): string | undefined {
  if (provider === 'local') return password === undefined ? 'is required for a local user' : undefined
  return password === undefined ? undefined : `must be left out: \`${provider}\` users sign in with their provider`
}

/** Returns the fault of a user's name as a half-sentence; undefined for a valid one. */
function nameFault(name: string): string | undefined {
  return isName(name) ? undefined : nameRule
}

/** The roles without repeats, in the order of the table. */
function requireCreationRoles(roles: readonly string[]): CreationRoleId[] {
  const unknown = [...new Set(roles)].filter((role) => !isCreationRole(role))
  if (unknown.length > 0) {
    const allowed = creationRoleIds.join(', ')
    const named = unknown.map((role) => `\`${role}\``).join(', ')
    throw new Problem('unprocessable', `a user cannot be created with ${named}; the roles are ${allowed}`, {
      details: { roles: unknown, allowed: [...creationRoleIds] },
    })
  }
  return creationRoleIds.filter((role) => roles.includes(role))
}

/** @throws Problem 403 when the roles carry a scope that the granter lacks. */
export function requireMayGrant(granter: ReadonlySet<string>, roles: readonly CreationRoleId[]): void {
  requireMayGive(
    granter,
    roles.flatMap((role) => systemRoles[role].scopes),
  )
}

/** Why the user may not sign in at present, for the audit log; undefined when they may. */
export function inactiveCause({ active, suspended }: { active: boolean | null; suspended: boolean | null }) {
  if (!active) return 'inactive'
  return suspended ? 'suspended' : undefined
}
