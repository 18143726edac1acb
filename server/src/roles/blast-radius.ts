import { isScope, type Scope } from '../permissions/permission.ts'

/** How much harm a holder of a role could do, the lowest level first. */
export const blastLevels = ['low', 'medium', 'high', 'critical'] as const
export type BlastLevel = (typeof blastLevels)[number]

export type BlastRadius = { level: BlastLevel; reasons: string[] }

type ReadScope = Extract<Scope, `${string}:read`>
type Effect = { level: BlastLevel; why: string }

/** The effect of each scope that does more than read. Omitting a new scope is a type error. */
const effects: Readonly<Record<Exclude<Scope, ReadScope>, Effect>> = {
  'requests:create': { level: 'low', why: 'requests one’s own access' },
  'requests:approve': { level: 'high', why: 'decides the access of others' },
  'requests:cancel': { level: 'high', why: 'cancels the requests of others' },
  'grants:revoke': { level: 'high', why: 'ends the access of others' },
  'policies:write': { level: 'critical', why: 'changes what is permitted' },
  'roles:write': { level: 'critical', why: 'changes what roles permit' },
  'users:write': { level: 'high', why: 'writes users and what they hold' },
  'groups:write': { level: 'high', why: 'writes groups and what their members hold' },
  'identity_providers:write': { level: 'critical', why: 'changes who vouches for users' },
  'identity_providers:sync': { level: 'critical', why: 'lets a directory rewrite users and groups' },
  'api_keys:write': { level: 'critical', why: 'makes and revokes keys' },
  'settings:write': { level: 'critical', why: 'changes the rules of the whole tenant' },
  'notification_channels:write': { level: 'medium', why: 'changes who is notified' },
  'cloud_accounts:write': { level: 'high', why: 'changes the account data by which rules decide' },
  'provisioners:write': { level: 'critical', why: 'changes where access is given' },
  'scim:provision': { level: 'high', why: 'writes users and groups as a directory' },
}

const readEffect: Effect = { level: 'low', why: 'only reads' }

function effectOf(scope: Scope): Effect {
  return isReadScope(scope) ? readEffect : effects[scope]
}

function isReadScope(scope: Scope): scope is ReadScope {
  return scope.endsWith(':read')
}

/**
 * The worst that a user with only these scopes could do. The highest level wins; the reasons come from the scopes at that
 * level. It is computed from the scopes alone and does not depend on who holds the role.
 */
export function blastRadius(scopes: readonly string[]): BlastRadius {
  const found = scopes.filter(isScope).map((scope) => ({ scope, ...effectOf(scope) }))
  const level = blastLevels[Math.max(0, ...found.map((effect) => blastLevels.indexOf(effect.level)))] ?? 'critical'
  return {
    level,
    reasons: found.filter((effect) => effect.level === level).map(({ scope, why }) => `\`${scope}\` ${why}`),
  }
}
