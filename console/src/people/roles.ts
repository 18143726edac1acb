import type { Schemas } from '@sallyport/client'

type Role = Pick<Schemas['Role'], 'id' | 'name' | 'description' | 'system' | 'scopes'>

/** The roles that every organization has, in the order in which they are offered. */
const systemIds = ['user', 'approver', 'admin', 'auditor'] as const
export type SystemRoleId = (typeof systemIds)[number]

/** What an invitation may give: the roles that all have, and those of the organization's own. */
export type Offered = { system: readonly SystemRoleId[]; own: readonly Pick<Role, 'id' | 'name' | 'description'>[] }

/** Before the roles are known, or where the person may not read them, what everybody may be. */
export const leastOffered: Offered = { system: ['user'], own: [] }

/** The roles that a person may give: those whose scopes they all hold. The service checks it again. */
export function offeredRoles(roles: readonly Role[], held: readonly string[]): Offered {
  const may = roles.filter(({ scopes }) => scopes.every((scope) => held.includes(scope)))
  const ids = new Set(may.filter(({ system }) => system).map(({ id }) => id))
  return {
    system: systemIds.filter((id) => ids.has(id)),
    own: may.filter(({ system }) => !system).map(({ id, name, description }) => ({ id, name, description })),
  }
}

/** The wanted role where it is offered, or the first that is. Where none is, the service says why. */
export function chosenRole({ system, own }: Offered, wanted: string): string {
  const ids: readonly string[] = [...system, ...own.map(({ id }) => id)]
  return ids.includes(wanted) ? wanted : (ids[0] ?? wanted)
}
