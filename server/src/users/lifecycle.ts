import { type Static, Type } from 'typebox'
import { Body } from '../http/schema.ts'
import type { Statement, WorkCtx } from '../kernel/context.ts'
import { invalidInput, Problem } from '../kernel/errors.ts'
import { scopesLacking } from '../permissions/permission.ts'
import { nameFault } from './user.ts'

/** The body of a change by whoever manages users. What is left out stays as it is. */
export const UserChange = Body({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  active: Type.Optional(
    Type.Boolean({ description: 'false ends what the user asked for and holds; true lets them in' }),
  ),
})
export type UserChange = Static<typeof UserChange>

/** What is known of a user while nobody else can change it. */
export type LockedUser = {
  id: string
  name: string
  active: boolean
  is_owner: boolean
  scopes: string[]
  /** How many others own the tenant and are active. */
  other_owners: number
}

export type ChangeEvent = 'user.updated' | 'user.deactivated' | 'user.reactivated'

/**
 * The statements that end what a user asked for and holds, to follow in the transaction that shuts them out. Handed in
 * where users are shut out: requests and grants know users, not the other way round.
 */
export type EndAccess = (ctx: WorkCtx, user_id: string, reason: string) => Statement[]

/**
 * What a change comes to, as the events that tell of it; none where all of it is so already.
 * @throws Problem 400 for a name that is none, 409 `last_owner`, 403 for reactivating somebody who may do what `granter` may not
 */
export function requireMayChange(user: LockedUser, change: UserChange, granter: ReadonlySet<string>): ChangeEvent[] {
  const events: ChangeEvent[] = []
  if (change.name !== undefined && change.name !== user.name) {
    const why = nameFault(change.name)
    if (why !== undefined) throw invalidInput([{ pointer: '/name', why }])
    events.push('user.updated')
  }
  if (change.active === false && user.active) {
    requireOwnerLeft(user)
    events.push('user.deactivated')
  }
  if (change.active === true && !user.active) {
    requireMayLetIn(user, granter)
    events.push('user.reactivated')
  }
  return events
}

/** @throws Problem 409 where the tenant would be left without an active owner */
export function requireOwnerLeft(user: LockedUser): void {
  if (!user.is_owner || !user.active || user.other_owners > 0) return
  throw new Problem('last_owner', 'this is the last active owner, without whom nobody would own the tenant')
}

/** Letting somebody in gives them back what they may do: nobody gives what they lack. */
function requireMayLetIn(user: LockedUser, granter: ReadonlySet<string>): void {
  const lacking = scopesLacking(granter, user.scopes)
  if (lacking.length === 0) return
  const message = `nobody grants a scope that they lack; this user holds ${lacking.join(', ')}`
  throw new Problem('forbidden', message, { details: { scopes: lacking } })
}
