import pg from 'pg'
import type { Facts } from './server-connection.ts'
import type { LoginFacts, RoleFacts } from './server-roles.ts'

/**
 * The roles and logins that the driver refuses, regardless of the config. INVARIANT: given access can be removed again, reaches
 * only the person it was approved for, and cannot be used to gain more.
 */

/** Why the role that Sallyport signs in as may not grant; undefined when it may. */
export function findOwnFault({ me, is_superuser }: Pick<Facts, 'me' | 'is_superuser'>): string | undefined {
  if (!is_superuser) return undefined
  return `\`${me}\` is a superuser: give Sallyport a role of its own, with only the rights that the guide lists`
}

/** The oldest version where a role changes only the roles that it made, and no login passes itself on. */
const makingVersion = 160_000

/** Why Sallyport can make no logins; undefined when it can. */
export function findMakingFault({ me, version }: Pick<Facts, 'me' | 'version'>, mayMake: boolean): string | undefined {
  if (version < makingVersion) {
    return '`makes_logins` needs PostgreSQL 16 or later: before it, `createrole` reaches every role of the server, and a login can be granted on by its user'
  }
  return mayMake ? undefined : `\`${me}\` may not make logins: run \`alter role ${pg.escapeIdentifier(me)} createrole\``
}

/** Why the role may not be given; undefined when it may. */
export function findRoleFault(name: string, role: RoleFacts | undefined, me: string): string | undefined {
  if (role === undefined) return `the server has no role \`${name}\``
  if (role.too_powerful !== null) {
    const via = role.too_powerful === name ? 'it is' : `it is a member of \`${role.too_powerful}\`, which is`
    return `\`${name}\` gives more than the use of a database: ${via} a superuser, makes roles or passes them on, owns something, or reaches past the rights of tables; map a narrower role`
  }
  if (!role.may_grant)
    return `\`${me}\` may not grant \`${name}\`: it needs the role with the admin option, by a grant to itself`
  return undefined
}

/** The end of access needs so many connections: one may hang on a lock of the login's user, and another one ends that user's. */
const neededToEnd = 3

/** Whether the login could take so many connections that too few are left to Sallyport's role, and so keep its access from being ended. */
export function mayTakeAll({
  connection_limit,
  room,
  our_room,
  open,
}: Pick<LoginFacts, 'connection_limit' | 'room' | 'our_room' | 'open'>): boolean {
  const most = connection_limit === -1 ? room : Math.min(connection_limit, room)
  // A limit closes none of those that are open.
  return !(Math.max(most, open) <= our_room - neededToEnd)
}

/**
 * The limit of a login that Sallyport makes or manages: at most half of what is left, where the server has few connections. `taken`: the limits of
 * other logins that it made, which one person may hold. Less than 1: none is left.
 */
export function connectionLimit(ourRoom: number, taken = 0): number {
  return Math.min(20, Math.floor((ourRoom - neededToEnd - taken) / 2))
}

/** The same for a login whose user keeps it: never more than its administrator set. */
export function managedLimit({
  connection_limit,
  our_room,
}: Pick<LoginFacts, 'connection_limit' | 'our_room'>): number {
  const limit = Math.max(1, connectionLimit(our_room))
  return connection_limit === -1 ? limit : Math.min(limit, connection_limit)
}

/** Connections of the server and the database: for a login without rights, for Sallyport's role, and the sum of the limits of made logins. */
export type MadeRoom = { room: number; our_room: number; taken: number }

/** The same for a login that Sallyport makes. Connections that are reserved for Sallyport are out of the reach of all such logins. */
export function madeLimit({ room, our_room, taken }: MadeRoom): number {
  return connectionLimit(our_room, room <= our_room - neededToEnd ? 0 : taken)
}

/** Why nothing may be given to the login; undefined when it may. `managed`: Sallyport enables, disables and limits it. */
export function findLoginFault(
  name: string,
  login: LoginFacts | undefined,
  managed: boolean,
  me: string,
): string | undefined {
  if (login === undefined)
    return `the server has no login \`${name}\`; the administrator of the server must create it first`
  if (login.is_me) return `\`${name}\` is the role that Sallyport itself signs in as`
  if (login.is_powerful) return `\`${name}\` is a superuser or may make roles: it could keep access that is removed`
  if (login.worn_by !== null) {
    return `\`${login.worn_by}\` may act as \`${name}\`: the access would reach more people than it was approved for`
  }
  if (!managed && !login.can_login) {
    return `\`${name}\` cannot log in, and the provisioner does not enable logins (\`manages_logins\`)`
  }
  if (managed && !login.may_alter) {
    return `\`${me}\` may not enable and disable \`${name}\`: it needs createrole and, from PostgreSQL 16, that role with the admin option`
  }
  if (!managed && mayTakeAll(login)) {
    const limited = `alter role ${pg.escapeIdentifier(name)} connection limit ${managedLimit(login)}`
    const reserved = `grant pg_use_reserved_connections to ${pg.escapeIdentifier(me)}`
    return `\`${name}\` could take all connections of the server, and Sallyport needs one to end its access: run \`${limited}\`, or from PostgreSQL 16 on set \`reserved_connections\` to ${neededToEnd} or more and run \`${reserved}\``
  }
  return undefined
}
