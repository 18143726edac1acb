import { type Static, Type } from 'typebox'
import { DateTime, Nullable, OneOf, Uuid } from '../http/schema.ts'
import type { WorkCtx } from '../kernel/context.ts'
import { unreachableEmail } from '../kernel/email-address.ts'
import { Problem } from '../kernel/errors.ts'
import type { RuleInput } from '../policy-engine/rule.ts'
import type { Mode } from '../tenants/mode.ts'

/** What the rehearsal of a tenant has made, as returned by the API. */
export const Rehearsal = Type.Object(
  {
    mode: OneOf(['rehearsal', 'live'] as const),
    live_since: Nullable(DateTime),
    people: Type.Array(
      Type.Object({ id: Uuid, name: Type.String(), active: Type.Boolean(), roles: Type.Array(Type.String()) }),
      { description: 'colleagues that nobody is, for whom an owner gets tokens' },
    ),
    accounts: Type.Array(
      Type.Object({
        id: Type.String({ description: 'the account number; no such account exists' }),
        name: Type.String(),
      }),
    ),
    policy_id: Nullable(Type.String({ format: 'uuid', description: 'its rules are for these accounts alone' })),
  },
  { title: 'Rehearsal' },
)
export type Rehearsal = Static<typeof Rehearsal>

/** The people, by their marks. */
export const rehearsalPeople = { ada: 'Ada', ben: 'Ben' } as const
export type PersonPart = keyof typeof rehearsalPeople

/** The address of a person, which no mail reaches. */
export function rehearsalEmail(part: PersonPart, suffix = ''): string {
  return unreachableEmail(`${part}${suffix}`, 'rehearsal')
}

/** The accounts, by their marks; the mark is the tag `env` too. */
export const rehearsalAccounts = [
  { part: 'production', name: 'Rehearsal: production' },
  { part: 'staging', name: 'Rehearsal: staging' },
  { part: 'sandbox', name: 'Rehearsal: sandbox' },
] as const

export const rehearsalPolicy = {
  name: 'Rehearsal',
  description:
    'For the accounts of the rehearsal alone. Going live deletes this policy with every rule in it: keep your own rules in another policy.',
} as const

const outsideProduction = 'resource.hasTag("env") && resource.getTag("env") != "production"'
const isReading = 'action == Action::"ReadOnlyAccess"'
const itsAccounts = 'resource.hasTag("rehearsal") && resource.getTag("rehearsal") == "true"'

/** What is longer is refused, to show what a refusal says and what would be allowed. */
const maxRehearsedSeconds = 4 * 3_600

export const rehearsalRules: readonly RuleInput[] = [
  {
    effect: 'permit',
    approval_mode: 'auto',
    action_scope_type: 'eq',
    action_ids: ['ReadOnlyAccess'],
    conditions: `when { ${itsAccounts} && ${outsideProduction} }`,
    notice: 'Rehearsal: reading outside of production is approved at once.',
  },
  {
    effect: 'permit',
    approval_mode: 'require',
    action_scope_type: 'in',
    action_ids: ['ReadOnlyAccess', 'PowerUserAccess', 'AdministratorAccess'],
    conditions: `when { ${itsAccounts} && context.duration_seconds <= ${maxRehearsedSeconds} } unless { ${isReading} && ${outsideProduction} }`,
    notice: 'Rehearsal: production, and more than reading, needs the approval of one colleague.',
  },
]

/** What creating the rehearsal writes: users, rules and accounts. */
export const creationScopes = ['users:write', 'policies:write', 'cloud_accounts:write'] as const

/** How long a token for a person of the rehearsal is valid, in seconds. */
export const rehearsalTokenSeconds = 900

/** What going live removes: the ids, and the accounts' numbers. */
export type Made = { user_ids: string[]; account_ids: string[]; policy_id: string | null }

/**
 * Ends the requests and the grants of these users, and everybody's for these accounts. The users and the holders are locked. It is passed
 * in, because requests and grants depend on tenants and not the other way round.
 */
export type EndRehearsalAccess = (
  ctx: WorkCtx,
  whose: { user_ids: readonly string[]; account_ids: readonly string[] },
  reasons: { cancelled: string; revoked: string },
) => Promise<unknown>

/** What an operation of the rehearsal must know of its caller and of the tenant. */
export type Standing = { mode: Mode; is_owner: boolean }

/** An owner holds every scope, so no other right is checked. @throws Problem 403 */
export function requireOwner({ is_owner }: Pick<Standing, 'is_owner'>): void {
  if (!is_owner) throw new Problem('forbidden', 'only an owner of the tenant may do this; ask an owner')
}

/** @throws Problem 409 in a live tenant */
export function requireRehearsal({ mode }: Pick<Standing, 'mode'>): void {
  if (mode === 'rehearsal') return
  const message = 'the tenant is live, and its rehearsal is over; create another tenant to rehearse again'
  throw new Problem('not_in_rehearsal', message, { details: { mode } })
}
