import { type Static, Type } from 'typebox'
import { Body, DateTime, OneOf } from '../http/schema.ts'
import { Problem } from '../kernel/errors.ts'
import { allScopes, isScope, type Scope, scopesLacking } from '../permissions/permission.ts'
import { blastLevels, blastRadius } from './blast-radius.ts'

/** A role that every tenant has and nobody changes. */
export type SystemRole = { id: SystemRoleId; name: string; description: string; scopes: readonly Scope[] }

export const systemRoleIds = ['user', 'approver', 'admin', 'auditor'] as const
export type SystemRoleId = (typeof systemRoleIds)[number]

/** The system roles. One's own requests, grants, notifications and profile need no scope beside `requests:create`. */
export const systemRoles: Readonly<Record<SystemRoleId, SystemRole>> = {
  user: {
    id: 'user',
    name: 'User',
    description: 'Asks for access',
    scopes: ['requests:create'],
  },
  approver: {
    id: 'approver',
    name: 'Approver',
    description: 'Asks for access, and decides the requests of others where policy permits it',
    scopes: ['requests:create', 'requests:read', 'requests:approve', 'grants:read'],
  },
  admin: {
    id: 'admin',
    name: 'Admin',
    description: 'Holds every scope but the one of directories',
    scopes: allScopes.filter((scope) => scope !== 'scim:provision'),
  },
  auditor: {
    id: 'auditor',
    name: 'Auditor',
    description: 'Sees everything, changes nothing',
    scopes: allScopes.filter((scope) => scope.endsWith(':read')),
  },
}

/** The roles that a user may be created with; others are given afterwards. */
export const creationRoleIds = ['user', 'approver', 'admin'] as const satisfies readonly SystemRoleId[]
export type CreationRoleId = (typeof creationRoleIds)[number]

export function isCreationRole(text: string): text is CreationRoleId {
  return creationRoleIds.some((id) => id === text)
}

/** One line with something on it. Need not be unique. */
const RoleName = Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\p{Cc}\\S]*[^\\p{Cc}\\s]\\P{Cc}*$' })
const RoleDescription = Type.String({ maxLength: 2000 })
const RoleScopes = Type.Array(Type.String({ maxLength: 100 }), {
  maxItems: 500,
  description: 'GET /v1/permissions lists them; one that is there twice counts once',
})

const BlastRadius = Type.Object(
  { level: OneOf(blastLevels), reasons: Type.Array(Type.String()) },
  { title: 'BlastRadius', description: 'how far the harm reaches that a holder could do, and by which scopes' },
)

/** What is kept of a role. */
const kept = {
  id: Type.String({ description: 'a word for the roles of the system, a uuid for one’s own' }),
  name: Type.String(),
  description: Type.String(),
  scopes: Type.Array(Type.String()),
  system: Type.Boolean({ description: 'every tenant has it, and nobody changes it' }),
  version: Type.Integer({ description: 'goes up with each change; in quotes it is the `ETag`' }),
  created_at: DateTime,
  updated_at: DateTime,
}

/** A role as answered. */
export const Role = Type.Object({ ...kept, blast_radius: BlastRadius }, { title: 'Role' })
export type Role = Static<typeof Role>

/** A role as its row holds it. */
export type RoleRow = Omit<Role, 'blast_radius'>

export function asRole(row: RoleRow): Role {
  return { ...row, blast_radius: blastRadius(row.scopes) }
}

/** The `ETag` of a role, as it stands in `If-Match`. */
export function roleTag({ version }: Pick<RoleRow, 'version'>): string {
  return `"${version}"`
}

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

/** `{role_id}` in a path: any text; what is no role's id addresses no role. */
export const RoleParams = Type.Object({
  role_id: Type.String({ description: '`user`, `approver`, `admin`, `auditor`, or the uuid of a role of one’s own' }),
})

/** What names roles in a body. */
export const RoleIds = Type.Array(Type.String({ maxLength: 200 }), {
  maxItems: 500,
  description: 'the words of system roles, the uuids of others; one that is there twice counts once',
})

/** A role's id as it is kept: like uuids everywhere, in lower case. */
export function readRoleId(text: string): string {
  return text.toLowerCase()
}

/** The ids as they are kept, without repeats. */
export function readRoleIds(texts: readonly string[]): string[] {
  return [...new Set(texts.map(readRoleId))]
}

/**
 * The scopes in the order of the table, without repeats.
 * @throws Problem 422 naming those that do not exist, and those alone
 */
export function requireScopes(asked: readonly string[]): Scope[] {
  const unknown = [...new Set(asked)].filter((scope) => !isScope(scope))
  if (unknown.length === 0) return allScopes.filter((scope) => asked.includes(scope))
  const message = `${quoted(unknown)}: no such scope; GET /v1/permissions lists them`
  throw new Problem('unprocessable', message, { details: { scopes: unknown } })
}

/** @throws Problem 403 naming the scopes that somebody would give and lacks themselves. */
export function requireMayGive(giver: ReadonlySet<string>, given: Iterable<string>): void {
  const lacking = scopesLacking(giver, given)
  if (lacking.length === 0) return
  const message = `nobody grants a scope that they lack; you lack ${lacking.join(', ')}`
  throw new Problem('forbidden', message, { details: { scopes: lacking } })
}

/** What a change makes of a role. */
export type PlannedChange = {
  to: Pick<RoleRow, 'name' | 'description' | 'scopes'>
  fields: (keyof RoleChange)[]
  added: string[]
  removed: string[]
}

/**
 * The change of a role by somebody.
 * @param editor holds these scopes; `holds` where they hold the role itself, by whatever road
 * @param change its scopes known
 * @throws Problem 403 for a role of the system, for a scope that the editor lacks, and for more scopes in a role that they hold
 */
export function planChange(
  role: RoleRow,
  change: RoleChange,
  editor: { scopes: ReadonlySet<string>; holds: boolean },
): PlannedChange {
  if (role.system) throw systemRoleFixed(role.id)
  const to = { ...pickKept(role), ...change }
  const added = to.scopes.filter((scope) => !role.scopes.includes(scope))
  const removed = role.scopes.filter((scope) => !to.scopes.includes(scope))
  requireMayGive(editor.scopes, added)
  if (editor.holds && added.length > 0) {
    const message = 'you hold this role yourself and may only take scopes from it; somebody else may add them'
    throw new Problem('forbidden', message, { details: { scopes: added } })
  }
  const fields = (['name', 'description'] as const).filter((field) => to[field] !== role[field])
  const scopes = added.length + removed.length > 0 ? (['scopes'] as const) : []
  return { to, fields: [...fields, ...scopes], added, removed }
}

/** 403: every tenant has it as it is. */
export function systemRoleFixed(id: string): Problem {
  return new Problem('forbidden', `\`${id}\` is a system role and stays as it is; make a role of your own`)
}

function pickKept({ name, description, scopes }: RoleRow): PlannedChange['to'] {
  return { name, description, scopes }
}

/** A role that somebody would give. */
export type GivenRole = { id: string; scopes: readonly string[] }

/**
 * What becomes of the roles held when they shall be `wanted`: those given and those taken.
 * @param known the roles that exist among those wanted
 * @throws Problem 422 naming the wanted ones that do not exist, 403 where one that is given carries a scope the giver lacks
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

function quoted(texts: readonly string[]): string {
  return texts.map((text) => `\`${text}\``).join(', ')
}
