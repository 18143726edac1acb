import { allScopes, type Scope } from '../permissions/permission.ts'

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
