import { type Static, Type } from 'typebox'
import { Body, Name } from '../http/schema.ts'
import type { Actor, Ctx, WorkCtx } from '../kernel/context.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { requireFreshSignIn } from '../kernel/fresh-sign-in.ts'
import { requireMayGive, requireMayTake } from '../roles/role.ts'
import { factChanges, readFactChange, requireMayStateFacts, type StoredFacts } from './fact.ts'
import { type Managed, requireManagedHere } from './managed.ts'

/** The body of a change by a user administrator. Omitted fields stay as they are. */
export const UserChange = Body({
  name: Type.Optional(Name(200)),
  active: Type.Optional(
    Type.Boolean({ description: 'false cancels the user’s requests and revokes their grants; true reactivates them' }),
  ),
  ...factChanges,
})
export type UserChange = Static<typeof UserChange>

/** A user whose row is locked. */
export type LockedUser = {
  id: string
  name: string
  active: boolean
  suspended: boolean
  is_owner: boolean
  scopes: string[]
  /** The number of other owners of the tenant who are active and not suspended. */
  other_owners: number
} & StoredFacts &
  Managed

export type ChangeEvent = 'user.updated' | 'user.deactivated' | 'user.reactivated'

/** What the end of all access of a user has ended. */
export const EndedAccess = Type.Object(
  {
    requests_cancelled: Type.Integer({ description: 'how many pending requests were cancelled' }),
    grants_ended: Type.Integer({ description: 'how many pending and active grants were ended' }),
  },
  { title: 'EndedAccess' },
)
export type EndedAccess = Static<typeof EndedAccess>

/** Why access ends: the reason in the events of the cancelled requests, and the end reason of the grants. */
export type AccessEndReasons = { cancelled: string; revoked: string | null }

/**
 * Cancels a user's pending requests and revokes their grants, in the transaction that has locked the user. It is passed in, because
 * requests and grants depend on users and not the other way round.
 */
export type EndAccess = (ctx: WorkCtx, user_id: string, reasons: AccessEndReasons) => Promise<EndedAccess>

/** Who makes the change, and how they signed in. */
type Caller = Pick<Ctx, 'actor' | 'session' | 'now'>

/** What a change changes: the fields of `user.updated`, with their new values; and the events. */
export type EffectiveChange = { fields: Partial<StoredFacts & { name: string }>; events: ChangeEvent[] }

/**
 * Returns what a change changes, and its events; none when it changes nothing.
 * @throws Problem 400 for faulty facts; 403 for a user of a directory, for one's own facts, for deactivating or reactivating a user with scopes that the actor lacks,
 *   or for reactivating one without a fresh sign-in in a live tenant; 409 `last_owner`
 */
export function requireMayChange(user: LockedUser, change: UserChange, caller: Caller): EffectiveChange {
  const { actor } = caller
  const events: ChangeEvent[] = []
  const facts = readFactChange(user, change)
  const fields = { ...(change.name !== undefined && change.name !== user.name && { name: change.name }), ...facts }
  if (Object.keys(fields).length > 0 || (change.active ?? user.active) !== user.active) requireManagedHere(user)
  if (Object.keys(facts).length > 0) requireMayStateFacts(user.id, actor)
  if (Object.keys(fields).length > 0) events.push('user.updated')
  if (change.active === false && user.active) {
    requireMayTakeFrom(user, actor)
    requireOwnerLeft(user)
    events.push('user.deactivated')
  }
  if (change.active === true && !user.active) {
    // The user's scopes come back.
    requireMayGive(actor.scopes, user.scopes)
    requireFreshSignIn(caller)
    events.push('user.reactivated')
  }
  return { fields, events }
}

/**
 * Deleting, deactivating or demoting a user takes rights from them, so the caller must hold every scope that the user holds.
 * Users may always do it to themselves, but not through an API key: a key with few scopes must not bring down its creator.
 * @throws Problem 403 naming the scopes that the actor lacks
 */
export function requireMayTakeFrom(user: Pick<LockedUser, 'id' | 'scopes'>, actor: Actor): void {
  if (actor.kind === 'user' && actor.user_id === user.id) return
  requireMayTake(actor.scopes, user.scopes, 'suspend the user, or ask a user who holds it')
}

/** What ending the access of another user needs: the scopes to end each of their requests and grants. */
const endAccessScopes = ['grants:revoke', 'requests:cancel']

/**
 * Users may end their own access, also through an API key: a key may already end each request and grant of its creator.
 * Others need the scopes for both. The answer to those who lack one is the same whether or not there is such a user.
 * @throws Problem 403 naming the scopes that the actor lacks, and 404 if they may not even know of the user
 */
export function requireMayEndAccess(actor: Actor, id: string): void {
  if (actor.user_id === id) return
  const lacking = endAccessScopes.filter((scope) => !actor.scopes.has(scope))
  if (lacking.length === 0) return
  if (!actor.scopes.has('users:read')) throw notFound('user')
  const message = `ending another user’s access needs scopes that you lack: ${lacking.join(', ')}`
  throw new Problem('forbidden', message, { details: { scopes: lacking } })
}

/** @throws Problem 409 when the tenant would be left without an active owner */
export function requireOwnerLeft(user: LockedUser): void {
  if (!user.is_owner || !user.active || user.other_owners > 0) return
  throw new Problem('last_owner', 'this user is the last active owner; a tenant must keep at least one')
}

/** @throws Problem 422 for a deactivated user, 409 `last_owner` */
export function requireMaySuspend(user: LockedUser): void {
  if (!user.active) {
    throw new Problem('unprocessable', 'this user is deactivated and can do nothing already; no suspension is needed')
  }
  requireOwnerLeft(user)
}
