import { type Static, Type } from 'typebox'
import { versionTag } from '../http/if-match.ts'
import { Body, DateTime, Name, OneOf } from '../http/schema.ts'
import { Problem } from '../kernel/errors.ts'
import { baseLetters } from '../kernel/one-line-name.ts'
import { allScopes, isScope, requireHeld, type Scope } from '../permissions/permission.ts'
import { blastLevels, blastRadius } from './blast-radius.ts'

/** A role that every tenant has and that cannot be changed. */
export type SystemRole = { id: SystemRoleId; name: string; description: string; scopes: readonly Scope[] }

export const systemRoleIds = ['user', 'approver', 'admin', 'auditor'] as const
export type SystemRoleId = (typeof systemRoleIds)[number]

/** The system roles. A user's own requests, grants, notifications and profile need no scope except `requests:create`. */
export const systemRoles: Readonly<Record<SystemRoleId, SystemRole>> = {
  user: {
    id: 'user',
    name: 'User',
    description: 'Requests access',
    scopes: ['requests:create'],
  },
  approver: {
    id: 'approver',
    name: 'Approver',
    description: 'Requests access, and decides the requests of others where policy permits it',
    scopes: ['requests:create', 'requests:read', 'requests:approve', 'grants:read'],
  },
  admin: {
    id: 'admin',
    name: 'Admin',
    description: 'Holds every scope except `scim:provision`',
    scopes: allScopes.filter((scope) => scope !== 'scim:provision'),
  },
  auditor: {
    id: 'auditor',
    name: 'Auditor',
    description: 'Sees everything, changes nothing',
    scopes: allScopes.filter((scope) => scope.endsWith(':read')),
  },
}

/** The roles of the people of a rehearsal: each can request, and decide what others request. */
export const rehearsalRoles = ['user', 'approver'] as const satisfies readonly SystemRoleId[]

/**
 * What a person of a rehearsal may do at most, whatever roles they are given. INVARIANT: nothing by which they could create a user, a key or
 * a way to sign in, or change rights.
 */
export const rehearsalScopes: ReadonlySet<string> = new Set(rehearsalRoles.flatMap((role) => systemRoles[role].scopes))

/** The roles that a user may be created with. Other roles are assigned afterwards. */
export const creationRoleIds = ['user', 'approver', 'admin'] as const satisfies readonly SystemRoleId[]
export type CreationRoleId = (typeof creationRoleIds)[number]

export function isCreationRole(text: string): text is CreationRoleId {
  return creationRoleIds.some((id) => id === text)
}

const RoleName = Name(200, { description: 'not the name of a system role; need not be unique' })
const RoleDescription = Type.String({ maxLength: 2000 })
const RoleScopes = Type.Array(Type.String({ maxLength: 100 }), {
  maxItems: 500,
  description: 'GET /v1/permissions lists them; duplicates count once',
})

const BlastRadius = Type.Object(
  { level: OneOf(blastLevels), reasons: Type.Array(Type.String()) },
  { title: 'BlastRadius', description: 'how much harm a holder of the role could do, and by which scopes' },
)

/** The stored fields of a role. */
const kept = {
  id: Type.String({ description: 'a name such as `admin` for system roles, a uuid for custom roles' }),
  name: Type.String(),
  description: Type.String(),
  scopes: Type.Array(Type.String()),
  system: Type.Boolean({ description: 'every tenant has it, and it cannot be changed' }),
  version: Type.Integer({ description: 'goes up with each change; in quotes it is the `ETag`' }),
  created_at: DateTime,
  updated_at: DateTime,
}

/** A role as returned by the API. */
export const Role = Type.Object({ ...kept, blast_radius: BlastRadius }, { title: 'Role' })
export type Role = Static<typeof Role>

/** A role as stored. */
export type RoleRow = Omit<Role, 'blast_radius'>

export function asRole(row: RoleRow): Role {
  return { ...row, blast_radius: blastRadius(row.scopes) }
}

/** The `ETag` of a role, as a caller sends it in `If-Match`. */
export const roleTag: (role: Pick<RoleRow, 'version'>) => string = versionTag

export const NewRoleInput = Body({
  name: RoleName,
  description: Type.Optional(RoleDescription),
  scopes: RoleScopes,
})

export const RoleChange = Body({
  name: Type.Optional(RoleName),
  description: Type.Optional(RoleDescription),
  scopes: Type.Optional(RoleScopes),
})
export type RoleChange = Static<typeof RoleChange>

/** `{role_id}` in a path: any text. An unknown id is answered as not found. */
export const RoleParams = Type.Object({
  role_id: Type.String({ description: '`user`, `approver`, `admin`, `auditor`, or the uuid of a custom role' }),
})

/** Role ids in a body. */
export const RoleIds = Type.Array(Type.String({ maxLength: 200 }), {
  maxItems: 500,
  description: 'the names of system roles, the uuids of others; duplicates count once',
})

/** A role's id as stored: in lower case, like uuids everywhere. */
export function readRoleId(text: string): string {
  return text.toLowerCase()
}

/** The ids as stored, without duplicates. */
export function readRoleIds(texts: readonly string[]): string[] {
  return [...new Set(texts.map(readRoleId))]
}

/**
 * The scopes in the order of the table, without duplicates.
 * @throws Problem 422 naming only those that do not exist
 */
export function requireScopes(requested: readonly string[]): Scope[] {
  const unknown = [...new Set(requested)].filter((scope) => !isScope(scope))
  if (unknown.length === 0) return allScopes.filter((scope) => requested.includes(scope))
  const message = `${quoted(unknown)}: no such scope; GET /v1/permissions lists them`
  throw new Problem('unprocessable', message, { details: { scopes: unknown } })
}

/** @throws Problem 403 naming the given scopes that the giver lacks. */
export function requireMayGive(giver: ReadonlySet<string>, given: Iterable<string>): void {
  requireHeld(giver, given, (lacking) => `you cannot grant a scope that you lack: ${lacking}`)
}

/** What readers take for the same name: without characters that nobody sees, accents and case (by way of `ı` too), trimmed. */
function foldName(name: string): string {
  return baseLetters(name).toUpperCase().toLowerCase().trim()
}

/** @throws Problem 403 for the name of a system role, in any spelling: readers would take the custom role for it. */
export function requireCustomName(name: string): void {
  const folded = foldName(name)
  const taken = Object.values(systemRoles).find((role) => foldName(role.name) === folded)
  if (taken === undefined) return
  throw new Problem('forbidden', `the system role \`${taken.name}\` has this name; choose another name`)
}

/**
 * The mirror of `requireMayGive`: only somebody who could give a scope may take it away. Otherwise a caller with few rights
 * could disarm those who have more.
 * @param instead what else the caller can do
 * @throws Problem 403 naming the taken scopes that the taker lacks
 */
export function requireMayTake(
  taker: ReadonlySet<string>,
  taken: Iterable<string>,
  instead = 'ask a user who holds it',
): void {
  requireHeld(taker, taken, (lacking) => `you cannot take away a scope that you lack: ${lacking}; ${instead}`)
}

/** A validated change of a role: the result and the differences. */
export type PlannedChange = {
  to: Pick<RoleRow, 'name' | 'description' | 'scopes'>
  fields: (keyof RoleChange)[]
  added: string[]
  removed: string[]
}

/**
 * Plans the change of a role.
 * @param editor their scopes; `holds`: whether they hold the role itself, directly or by a group
 * @param change with scopes that exist
 * @throws Problem 403 for a system role, for the name of one, for a scope added or removed that the editor lacks, and for more
 *   scopes in a role that they hold
 */
export function planChange(
  role: RoleRow,
  change: RoleChange,
  editor: { scopes: ReadonlySet<string>; holds: boolean },
): PlannedChange {
  if (role.system) throw systemRoleFixed(role.id)
  const to = { ...pickKept(role), ...change }
  // A role that already has such a name keeps it until its name changes.
  if (to.name !== role.name) requireCustomName(to.name)
  const added = to.scopes.filter((scope) => !role.scopes.includes(scope))
  const removed = role.scopes.filter((scope) => !to.scopes.includes(scope))
  requireMayGive(editor.scopes, added)
  requireMayTake(editor.scopes, removed)
  if (editor.holds && added.length > 0) {
    const message = 'you hold this role yourself and may only remove scopes from it; another administrator may add them'
    throw new Problem('forbidden', message, { details: { scopes: added } })
  }
  const fields = (['name', 'description'] as const).filter((field) => to[field] !== role[field])
  const scopes = added.length + removed.length > 0 ? (['scopes'] as const) : []
  return { to, fields: [...fields, ...scopes], added, removed }
}

/** 403: every tenant has the system roles unchanged. */
export function systemRoleFixed(id: string): Problem {
  return new Problem('forbidden', `\`${id}\` is a system role and cannot be changed; create a custom role`)
}

function pickKept({ name, description, scopes }: RoleRow): PlannedChange['to'] {
  return { name, description, scopes }
}

/** A role to be given. */
export type GivenRole = { id: string; scopes: readonly string[] }

/**
 * Plans which roles to add and remove so that `wanted` replaces `held`.
 * @param known the wanted roles that exist; it may contain others
 * @throws Problem 422 naming the wanted roles that do not exist, 403 when an added role carries a scope that the giver lacks
 */
export function planRoles(
  held: readonly string[],
  wanted: readonly string[],
  known: readonly GivenRole[],
  giver: ReadonlySet<string>,
): { added: string[]; removed: string[] } {
  const unknown = wanted.filter((id) => !known.some((role) => role.id === id))
  if (unknown.length > 0) {
    const message = `${quoted(unknown)}: no such role; GET /v1/roles lists them`
    throw new Problem('unprocessable', message, { details: { roles: unknown } })
  }
  const added = known.filter((role) => !held.includes(role.id))
  requireMayGive(
    giver,
    added.flatMap((role) => role.scopes),
  )
  return { added: added.map((role) => role.id), removed: held.filter((id) => !wanted.includes(id)) }
}

/** The scopes of those roles among `known`. */
export function scopesOfRoles(known: readonly GivenRole[], ids: readonly string[]): string[] {
  return known.filter((role) => ids.includes(role.id)).flatMap((role) => role.scopes)
}

function quoted(texts: readonly string[]): string {
  return texts.map((text) => `\`${text}\``).join(', ')
}
