import type { DirectoryCtx } from '../../http/scim-operation.ts'
import { ScimProblem } from '../../http/scim-problem.ts'
import type { WorkItem } from '../../jobs/claim.ts'
import type { Tx } from '../../kernel/context.ts'
import { Problem } from '../../kernel/errors.ts'
import { createSemaphore } from '../../kernel/semaphore.ts'
import { userKind } from '../../scim/attribute.ts'
import { personOf } from '../../scim/person.ts'
import { searchedValues } from '../../scim/searched-values.ts'
import { type ChangeParts, changeUser } from '../../scim/users/change-user.flow.ts'
import { insertUser, UnsettledUser } from '../../scim/users/insert-user.flow.ts'
import type { PersonChange } from './sync-run.ts'
import { type DuePerson, listDuePeople, type Outcome, savePeopleOutcomes } from './write-store.ts'

/** After so many people, the run makes sure that it is still to go on. */
const maxBatch = 100

/** How many users are written at once. Those who are stopped share transactions, and come all at once. */
const maxAtOnce = 8

/** In this order: nobody who is to go waits for those who come. */
const order = [
  'disable',
  'absent',
  'enable',
  'adopt',
  'change',
  'add',
  'settle',
] as const satisfies readonly PersonChange[]

/** What is written in a run, and with what. `tx`: outside the check that the run is still to go on. */
export type Writing = { tx: Tx; item: WorkItem; ctx: DirectoryCtx; parts: ChangeParts }

/** The kinds of change that something is written for. */
export const writtenChanges: readonly string[] = order

/**
 * Writes what differs of people, each in a transaction. What cannot be done is noted with them, and the others go on. Returns whether the run
 * is still ours.
 */
export async function writePeople(writing: Writing): Promise<boolean> {
  const { tx, item } = writing
  for (const change of order) {
    const stops = change === 'disable' || change === 'absent'
    for (;;) {
      const due = await listDuePeople(tx, item, change, maxBatch)
      if (due.length === 0) break
      const atOnce = createSemaphore({ limit: stops ? maxBatch : maxAtOnce, refusal: () => new Error('never refused') })
      const outcomes = await Promise.all(due.map((one) => atOnce.run(() => write(writing, one))))
      if (!(await savePeopleOutcomes(tx, item, outcomes))) return false
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
    const message = findRefusal(error)
    if (message === undefined) throw error
    return { source_id, change, message }
  }
}

async function writeChange(
  ctx: DirectoryCtx,
  parts: ChangeParts,
  { change, user_id, resource }: DuePerson,
): Promise<PersonChange> {
  if (user_id !== null) {
    await changeUser(ctx, parts, {
      id: user_id,
      ifMatch: undefined,
      of: (before) => resource ?? { ...before, active: false },
    })
    return change
  }
  if (resource === null) throw new Error('a person who is to be made was read without a resource')
  await insertUser(ctx, parts, { person: personOf(resource), resource, values: searchedValues(userKind, resource) })
  return change === 'settle' ? 'add' : change
}

/** Why a change is refused, where it is about this one person; undefined where the run itself cannot go on. */
function findRefusal(error: unknown): string | undefined {
  const isRefusal = (error instanceof ScimProblem || error instanceof Problem) && error.status < 500
  return isRefusal ? error.message : undefined
}
