/** What every change of a user by their directory has in common: read, decide, write if nobody has changed them meanwhile. */
import { isDeepStrictEqual } from 'node:util'
import type { NewEvent } from '../../events/emit.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import { noResource, notUnique } from '../../http/scim-problem.ts'
import { sessionsEnd } from '../../sessions/session-store.ts'
import { type EndAccess, requireOwnerLeft } from '../../users/lifecycle.ts'
import { leave, lockUser, saveUserDeletion } from '../../users/lifecycle-store.ts'
import { userKind } from '../attribute.ts'
import { type Person, personOf } from '../person.ts'
import type { Resource } from '../read-resource.ts'
import { type SearchedValue, searchedValues } from '../searched-values.ts'
import { requireVersion } from '../version.ts'
import type { DirectoryUser } from './directory-user.ts'
import { findDirectoryUser, saveDirectoryUser, type UserSave } from './directory-user-store.ts'
import { changedMeanwhile, guardRemoval } from './guard-removal.flow.ts'
import { takenBy } from './holder.ts'
import { findHolders } from './holder-store.ts'

/** How often a change is tried when another comes between its read and its write. */
const maxAttempts = 5

/** Ends a user’s access where the directory stops them. `removalsGuarded`: how many it stops was checked before, for all of them at once. */
export type ChangeParts = { endAccess: EndAccess; removalsGuarded?: boolean }

type Change = { id: string; ifMatch: string | undefined; of(before: Resource): Resource }

/**
 * Changes a user. One who is deactivated loses sessions, pending requests and live grants in the same transaction.
 * @throws ScimProblem 403 for one of many removals, 404, 409 where the name or the address is another user’s and for the last owner, 412
 */
export async function changeUser(ctx: DirectoryCtx, parts: ChangeParts, change: Change): Promise<DirectoryUser> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const before = await requireUser(ctx, change)
    const resource = change.of(before.resource)
    const person = personOf(resource)
    if (isDeepStrictEqual(resource, before.resource) && person.active === before.active) return before
    const former = personOf(before.resource)
    await requireFree(ctx, before.id, former, person)
    const [held, kept] = [searchedValues(userKind, before.resource), searchedValues(userKind, resource)]
    const save: UserSave = {
      before,
      after: { person, resource, values: kept },
      gone: without(held, kept, placeOf),
      found: without(kept, held, (value) => `${placeOf(value)} ${value.key}`),
      events: eventsOf(ctx, before, former, person),
      ...(former.external_id !== person.external_id && { former_external_id: former.external_id }),
    }
    const stops = before.active && !person.active
    const saved = await (stops ? stopUser(ctx, parts, save) : saveOf(ctx, save))
    if (saved !== undefined) return saved
  }
  throw changedMeanwhile()
}

async function requireUser(ctx: DirectoryCtx, { id, ifMatch }: Omit<Change, 'of'>): Promise<DirectoryUser> {
  const found = await findDirectoryUser(ctx, id)
  if (found === undefined) throw noResource('User')
  requireVersion(ifMatch, found.version)
  return found
}

const placeOf = ({ path, element }: SearchedValue) => `${path} ${element}`

/** The values whose key none of the others has. In linear time: a user may have more than a thousand. */
function without(
  values: readonly SearchedValue[],
  others: readonly SearchedValue[],
  keyOf: (value: SearchedValue) => string,
): SearchedValue[] {
  const keys = new Set(others.map(keyOf))
  return values.filter((value) => !keys.has(keyOf(value)))
}

async function requireFree(ctx: DirectoryCtx, id: string, former: Person, person: Person): Promise<void> {
  const same = (['user_name', 'external_id', 'email'] as const).every((field) => former[field] === person[field])
  if (same) return
  const { has_id, holders } = await findHolders(ctx, person, id)
  if (has_id) throw notUnique('another user of this directory has the `externalId`')
  if (holders.length > 0) throw takenBy(holders)
}

/** The fields of the user's record that follow from what the directory says. */
const recordFields = {
  external_id: 'external_id',
  email: 'email',
  name: 'name',
  first_name: 'first_name',
  last_name: 'last_name',
  display_name: 'display_name',
  department: 'department',
  title: 'title',
  manager_key: 'manager_id',
} as const satisfies Partial<Record<keyof Person, string>>

function eventsOf(ctx: DirectoryCtx, before: DirectoryUser, former: Person, person: Person): NewEvent[] {
  const { identity_provider_id } = ctx
  const about = { subject_type: 'user', subject_id: before.id } as const
  const fields = Object.entries(recordFields)
    .filter(([field]) => former[field as keyof Person] !== person[field as keyof Person])
    .map(([, name]) => name)
  const events: NewEvent[] = []
  if (fields.length > 0) events.push({ type: 'user.updated', ...about, data: { fields, identity_provider_id } })
  return [...events, ...stateEvents(ctx, before, person.active)]
}

/** That the directory stops a user, or lets them come back; nothing where they stay as they are. */
export function stateEvents(
  { identity_provider_id }: DirectoryCtx,
  before: Pick<DirectoryUser, 'id' | 'active'>,
  active: boolean,
): NewEvent[] {
  if (before.active === active) return []
  const type = active ? 'user.reactivated' : 'user.deactivated'
  return [{ type, subject_type: 'user', subject_id: before.id, data: { identity_provider_id } }]
}

/** Another external id may be another person’s: sessions by the former one end, and the account that signed in by it is not theirs any more. */
function saveOf(ctx: DirectoryCtx, save: UserSave): Promise<DirectoryUser | undefined> {
  if (save.former_external_id == null) return saveDirectoryUser(ctx, save)
  return ctx.tx.interactive(async (tx) => {
    const saved = await saveDirectoryUser({ ...ctx, tx }, save)
    if (saved !== undefined) await tx.write([sessionsEnd(tx, saved.id)])
    return saved
  })
}

function stopUser(ctx: DirectoryCtx, parts: ChangeParts, save: UserSave): Promise<DirectoryUser | undefined> {
  const { endAccess, removalsGuarded = false } = parts
  const stop = async (inside: DirectoryCtx) => {
    await requireMayStop(inside, save.before)
    const saved = await saveDirectoryUser(inside, save)
    if (saved !== undefined) await leave(inside, saved, endAccess, 'its holder was deactivated in the directory')
    return saved
  }
  return guardRemoval(ctx, { before: save.before, isCounted: save.before.active && !removalsGuarded }, stop)
}

/** Locks an owner who is to be stopped, and the other owners. @throws Problem 409 `last_owner` */
async function requireMayStop({ tx }: DirectoryCtx, { id, is_owner }: DirectoryUser): Promise<void> {
  if (!is_owner) return
  const locked = await lockUser(tx, id)
  if (locked !== undefined) requireOwnerLeft(locked)
}

/** Deletes a user, as the end of their access. @throws ScimProblem 403, 404, 409 and 412 as above */
export async function removeUser(
  ctx: DirectoryCtx,
  parts: ChangeParts,
  { id, ifMatch }: Omit<Change, 'of'>,
): Promise<void> {
  const before = await requireUser(ctx, { id, ifMatch })
  const remove = async (inside: DirectoryCtx) => {
    await requireMayStop(inside, before)
    await requireUser(inside, { id, ifMatch })
    await saveUserDeletion(inside, { id })
    await leave(inside, { id }, parts.endAccess, 'its holder was deleted in the directory')
    return true
  }
  await guardRemoval(ctx, { before, isCounted: before.active }, remove)
}
