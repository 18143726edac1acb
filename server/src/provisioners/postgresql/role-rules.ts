import type { Facts } from './server-connection.ts'
import type { LoginFacts, RoleFacts } from './server-roles.ts'

/**
 * Whom and what the driver refuses, however the config maps it. INVARIANT: what is given can be taken away again, reaches
 * nobody but whom it was approved for, and gives no way to more.
 */

/** Why nothing is given as the role that we signed in as; undefined: it may be. */
export function findOwnFault({ me, is_superuser }: Pick<Facts, 'me' | 'is_superuser'>): string | undefined {
  if (!is_superuser) return undefined
  return `\`${me}\` is a superuser: give Sallyport a role of its own, with the rights that the guide lists and no more`
}

/** Why the role is not given; undefined: it may be. */
export function findRoleFault(name: string, role: RoleFacts | undefined, me: string): string | undefined {
  if (role === undefined) return `the server has no role \`${name}\``
  if (role.too_powerful !== null) {
    const via = role.too_powerful === name ? 'it is' : `it leads to \`${role.too_powerful}\`, which is`
    return `\`${name}\` gives more than the use of a database: ${via} a superuser, makes roles or passes them on, owns something, or reaches past the rights of tables; map a narrower role`
  }
  if (!role.may_grant)
    return `\`${me}\` may not grant \`${name}\`: it needs the role with the admin option, by a grant to itself`
  return undefined
}

/** Why nothing is given to the login; undefined: it may be. `managed`: it is Sallyport's to open and to shut. */
export function findLoginFault(
  name: string,
  login: LoginFacts | undefined,
  managed: boolean,
  me: string,
): string | undefined {
  if (login === undefined) return `the server has no login \`${name}\`: whoever runs the server makes it first`
  if (login.is_me) return `\`${name}\` is the role that Sallyport itself signs in as`
  if (login.is_powerful) return `\`${name}\` is a superuser or may make roles: it could keep what is taken away`
  if (login.worn_by !== null) {
    return `\`${login.worn_by}\` may act as \`${name}\`: what is given would reach more people than it was approved for`
  }
  if (!managed && !login.can_login) {
    return `\`${name}\` cannot log in, and the provisioner does not open logins (\`manages_logins\`)`
  }
  if (managed && !login.may_alter) {
    return `\`${me}\` may not open and shut \`${name}\`: it needs createrole and, from PostgreSQL 16, that role with the admin option`
  }
  return undefined
}
