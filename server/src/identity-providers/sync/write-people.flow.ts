import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { WorkItem } from '../../jobs/claim.ts'
import type { Tx } from '../../kernel/context.ts'
import { createSemaphore } from '../../kernel/semaphore.ts'
import type { Resource } from '../../scim/read-resource.ts'
import { type ChangeParts, changeUser } from '../../scim/users/change-user.flow.ts'
import { findUserByExternalId } from '../../scim/users/directory-user-store.ts'
import { insertUser, UnsettledUser } from '../../scim/users/insert-user.flow.ts'
import { userContentOf } from '../../scim/users/user-content.ts'
import { refusalIn } from './refusal.ts'
import { type PersonChange, writingOrder } from './sync-run.ts'
import { type DuePerson, listDuePeople, type Outcome, savePeopleOutcomes } from './write-store.ts'

/** After so many people, the run makes sure that it is still to go on. */
const maxBatch = 100

/** How many users are written at once. Those who are stopped share transactions, and come all at once. */
const maxAtOnce = 8

/** What is written in a run, and with what. `tx`: outside the check that the run is still to go on. */
export type Writing = { tx: Tx; item: WorkItem; ctx: DirectoryCtx; parts: ChangeParts }

/**
 * Writes what differs of people, each in a transaction. What cannot be done is noted with them, and the others go on. Returns whether the run
 * is still ours.
 */
export async function writePeople(writing: Writing): Promise<boolean> {
  const { tx, item } = writing
  for (const change of writingOrder) {
    const stops = change === 'disable' || change === 'absent'
    for (;;) {
      const due = await listDuePeople(tx, item, change, maxBatch)
      if (due.length === 0) break
      const atOnce = createSemaphore({ limit: stops ? maxBatch : maxAtOnce, refusal: () => new Error('never refused') })
      const settled = await Promise.allSettled(due.map((one) => atOnce.run(() => write(writing, one))))
      const outcomes = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      if (!(await savePeopleOutcomes(tx, item, outcomes))) return false
      const fault = settled.find((one) => one.status === 'rejected')
      if (fault !== undefined) throw fault.reason
    }
  }
  return true
}

async function write({ ctx, parts }: Writing, due: DuePerson): Promise<Outcome> {
  const { source_id, change } = due
  try {
    return { source_id, change: await writeChange(ctx, parts, due), message: null }
  } catch (error) {
    if (error instanceof UnsettledUser) return { source_id, change: 'settle', message: null }
    const message = refusalIn(error)
    if (message === undefined) throw error
    return { source_id, change, message }
  }
}

async function writeChange(
  ctx: DirectoryCtx,
  parts: ChangeParts,
  { source_id, change, user_id: known, resource }: DuePerson,
): Promise<PersonChange> {
  // Of a run that was interrupted, a person may be made already, and not noted.
  const user_id = known ?? (await findUserByExternalId(ctx, source_id)) ?? null
  if (user_id !== null) {
    await changeKnown(ctx, parts, { user_id, change, resource })
    return change === 'settle' ? 'add' : change
  }
  if (resource === null) throw new Error('a person who is to be made was read without a resource')
  await insertUser(ctx, parts, userContentOf(resource))
  return change === 'settle' ? 'add' : change
}

/**
 * INVARIANT: who is disabled in the directory is stopped, whatever else it says of them: an address that is another user’s, for example, where
 * mail for a leaver goes to a colleague.
 */
async function changeKnown(
  ctx: DirectoryCtx,
  parts: ChangeParts,
  { user_id: id, change, resource }: { user_id: string; change: PersonChange; resource: Resource | null },
): Promise<void> {
  const stopped = (before: Resource): Resource => ({ ...before, active: false })
  try {
    await changeUser(ctx, parts, { id, ifMatch: undefined, of: (before) => resource ?? stopped(before) })
  } catch (error) {
    if (change !== 'disable' || resource === null || refusalIn(error) === undefined) throw error
    await changeUser(ctx, parts, { id, ifMatch: undefined, of: stopped })
  }
}
