import type { GroupingCtx } from '../../http/scim-operation.ts'
import type { WorkItem } from '../../jobs/claim.ts'
import type { Tx } from '../../kernel/context.ts'
import { newId } from '../../kernel/id.ts'
import {
  findGroupByExternalId,
  insertDirectoryGroup,
  saveDirectoryGroup,
} from '../../scim/groups/directory-group-store.ts'
import { refusalIn } from './refusal.ts'
import { type DueGroup, listDueGroups, listMembers, type Outcome, saveGroupOutcomes } from './write-store.ts'

/** After so many groups, the run makes sure that it is still to go on. */
const maxBatch = 20

/** Writes what differs of groups, one after another, each in a transaction. Returns whether the run is still ours. */
export async function writeGroups(writing: { tx: Tx; item: WorkItem; ctx: GroupingCtx }): Promise<boolean> {
  const { tx, item, ctx } = writing
  for (;;) {
    const due = await listDueGroups(tx, item, maxBatch)
    if (due.length === 0) return true
    const outcomes: Outcome[] = []
    for (const one of due) outcomes.push(await write(ctx, item, one))
    if (!(await saveGroupOutcomes(tx, item, outcomes))) return false
  }
}

async function write(ctx: GroupingCtx, item: WorkItem, due: DueGroup): Promise<Outcome> {
  const { source_id, change } = due
  try {
    await writeGroup(ctx, item, due)
    return { source_id, change, message: null }
  } catch (error) {
    const message = refusalIn(error)
    if (message === undefined) throw error
    return { source_id, change, message }
  }
}

async function writeGroup(ctx: GroupingCtx, item: WorkItem, due: DueGroup): Promise<void> {
  const { source_id, name, change, group_id } = due
  const added = change === 'empty' ? [] : await listMembers(ctx.tx, item, source_id)
  const known = group_id ?? (await findGroupByExternalId(ctx, source_id))
  if (known === undefined) {
    await insertDirectoryGroup(ctx, newId(), { display_name: name, external_id: source_id }, added)
    return
  }
  const members = { all: true, added, removed: [] }
  await saveDirectoryGroup(ctx, known, { display_name: name, members }, undefined)
}
