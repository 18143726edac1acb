import { type Static, Type } from 'typebox'
import { Problem } from '../kernel/errors.ts'

type About = { name: string; description: string }

/** The one table of all scopes, by resource and action. Roles, API keys, the list endpoint and the reference come from it. */
const permissionTable = {
  requests: {
    read: { name: 'Read requests', description: "See all users' access requests" },
    create: { name: 'Request access', description: "Create one's own access requests" },
    approve: { name: 'Decide requests', description: 'Approve and deny, where policy permits it' },
    cancel: { name: 'Cancel requests', description: 'Cancel requests that others made' },
  },
  grants: {
    read: { name: 'Read grants', description: "See all users' grants" },
    revoke: { name: 'Revoke grants', description: 'End and retry the access of others' },
  },
  policies: {
    read: { name: 'Read policies', description: 'See policies and their rules, and what actions mean' },
    write: {
      name: 'Change policies',
      description: 'Create, change, order and delete policies and their rules, and describe actions',
    },
  },
  roles: {
    read: { name: 'Read roles', description: 'See roles and the scopes they carry' },
    write: { name: 'Change roles', description: 'Create, change and delete custom roles' },
  },
  users: {
    read: { name: 'Read users', description: 'See users and their roles' },
    write: { name: 'Change users', description: 'Create and change users' },
  },
  groups: {
    read: { name: 'Read groups', description: 'See groups and their members' },
    write: { name: 'Change groups', description: 'Create and change groups, and add and remove members' },
  },
  identity_providers: {
    read: { name: 'Read identity providers', description: 'See identity providers, without their secrets' },
    write: { name: 'Change identity providers', description: 'Create, change and delete identity providers' },
    sync: { name: 'Sync identity providers', description: 'Start a sync of an identity provider' },
  },
  api_keys: {
    read: { name: 'Read API keys', description: 'See the records of API keys, never a key' },
    write: { name: 'Change API keys', description: 'Create and revoke API keys' },
  },
  settings: {
    read: { name: 'Read settings', description: 'See the settings of the tenant' },
    write: { name: 'Change settings', description: 'Change the settings of the tenant' },
  },
  notification_channels: {
    read: { name: 'Read notification channels', description: 'See notification channels, without their secrets' },
    write: {
      name: 'Change notification channels',
      description: 'Create, change, test and delete notification channels',
    },
  },
  cloud_accounts: {
    read: { name: 'Read cloud accounts', description: 'See the cache of cloud accounts' },
    write: { name: 'Change cloud accounts', description: 'Write entries of the cache of cloud accounts' },
  },
  provisioners: {
    read: {
      name: 'Read provisioners',
      description: 'See provisioners, without their secrets, and what their targets say of people and their access',
    },
    write: { name: 'Change provisioners', description: 'Set up and change provisioners' },
  },
  audit: {
    read: { name: 'Read the audit log', description: 'See and export the audit log' },
  },
  scim: {
    provision: { name: 'Provision by SCIM', description: 'Let a directory write users and groups' },
  },
} as const satisfies Record<string, Record<string, About>>

type Table = typeof permissionTable

/** A permission: `resource:action`. */
export type Scope = { [Resource in keyof Table]: `${Resource}:${keyof Table[Resource] & string}` }[keyof Table]

const PermissionScope = Type.Object(
  {
    scope: Type.String(),
    resource: Type.String(),
    action: Type.String(),
    name: Type.String(),
    description: Type.Optional(Type.String()),
  },
  { title: 'PermissionScope' },
)

export const PermissionGroup = Type.Object(
  { resource: Type.String(), scopes: Type.Array(PermissionScope) },
  { title: 'PermissionGroup' },
)

/** The scopes in the order of the table, grouped by resource. */
export const permissionGroups: Static<typeof PermissionGroup>[] = Object.entries(permissionTable).map(
  ([resource, actions]) => ({
    resource,
    scopes: Object.entries<About>(actions).map(([action, about]) => ({
      scope: `${resource}:${action}`,
      resource,
      action,
      ...about,
    })),
  }),
)

/** Every scope, in the order of the table. */
export const allScopes = permissionGroups.flatMap((group) => group.scopes.map(({ scope }) => scope as Scope))

const known: ReadonlySet<string> = new Set(allScopes)

export function isScope(text: string): text is Scope {
  return known.has(text)
}

/** Every scope that a user can hold: `scim:provision` is for directories only. */
const everyScope = allScopes.filter((scope) => scope !== 'scim:provision')

/** For a change by which a caller could become any user. @throws Problem 403 naming the scopes that the caller lacks */
export function requireEveryScope(granter: ReadonlySet<string>, change: string): void {
  requireHeld(granter, everyScope, (lacking) => `${change}, and needs every scope; you lack ${lacking}`)
}

/** @param say the message, from the scopes that the caller lacks. @throws Problem 403 naming them */
export function requireHeld(
  held: ReadonlySet<string>,
  needed: Iterable<string>,
  say: (lacking: string) => string,
): void {
  const lacking = scopesLacking(held, needed)
  if (lacking.length === 0) return
  throw new Problem('forbidden', say(lacking.join(', ')), { details: { scopes: lacking } })
}

/** The granted scopes that the granter lacks. INVARIANT: a granter holds every scope that they grant. */
export function scopesLacking(granter: ReadonlySet<string>, granted: Iterable<string>): string[] {
  return [...new Set(granted)].filter((scope) => !granter.has(scope))
}
