import { isScope, type Scope } from '../permissions/permission.ts'

/** How far the harm reaches that a holder could do, the least first. */
export const blastLevels = ['low', 'medium', 'high', 'critical'] as const
export type BlastLevel = (typeof blastLevels)[number]

export type BlastRadius = { level: BlastLevel; reasons: string[] }

type Reading = Extract<Scope, `${string}:read`>
type Effect = { level: BlastLevel; why: string }

/** What each scope that does more than read can do. Leaving a new one out is a type error. */
const effects: Readonly<Record<Exclude<Scope, Reading>, Effect>> = {
  'requests:create': { level: 'low', why: 'asks for access of one’s own' },
  'requests:approve': { level: 'high', why: 'decides the access of others' },
  'requests:cancel': { level: 'high', why: 'cancels what others asked for' },
  'grants:revoke': { level: 'high', why: 'ends the access of others' },
  'policies:write': { level: 'critical', why: 'changes what is permitted' },
  'roles:write': { level: 'critical', why: 'changes what roles permit' },
  'users:write': { level: 'high', why: 'writes users and what they hold' },
  'groups:write': { level: 'high', why: 'writes groups and what their members hold' },
  'identity_providers:write': { level: 'critical', why: 'changes who vouches for users' },
  'identity_providers:sync': { level: 'critical', why: 'lets a directory rewrite users and groups' },
  'api_keys:write': { level: 'critical', why: 'makes and revokes keys' },
  'settings:write': { level: 'critical', why: 'changes the rules of the whole tenant' },
  'notification_channels:write': { level: 'medium', why: 'changes who is told' },
  'cloud_accounts:write': { level: 'medium', why: 'changes what is known of accounts' },
  'provisioners:write': { level: 'critical', why: 'changes where access is given' },
  'scim:provision': { level: 'high', why: 'writes users and groups as a directory' },
}

const reading: Effect = { level: 'low', why: 'reads alone' }

function effectOf(scope: Scope): Effect {
  return isReading(scope) ? reading : effects[scope]
}

function isReading(scope: Scope): scope is Reading {
  return scope.endsWith(':read')
}

/**
 * What somebody who holds these scopes, and nothing else, could do at worst. The highest level wins; the reasons are those
 * of the scopes that have it. Computed from the scopes alone: it tells nothing of who holds the role.
 */
export function blastRadius(scopes: readonly string[]): BlastRadius {
  const found = scopes.filter(isScope).map((scope) => ({ scope, ...effectOf(scope) }))
  const level = blastLevels[Math.max(0, ...found.map((effect) => blastLevels.indexOf(effect.level)))] ?? 'critical'
  return {
    level,
    reasons: found.filter((effect) => effect.level === level).map(({ scope, why }) => `\`${scope}\` ${why}`),
  }
}
