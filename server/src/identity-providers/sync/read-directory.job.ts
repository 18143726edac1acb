import type { GroupingCtx } from '../../http/scim-operation.ts'
import type { WorkItem } from '../../jobs/claim.ts'
import type { DueWork } from '../../jobs/work-list.ts'
import { backoffDelay } from '../../kernel/backoff.ts'
import type { WorkCtx } from '../../kernel/context.ts'
import { Problem } from '../../kernel/errors.ts'
import { NotNow, TargetError } from '../../provisioners/driver.ts'
import type { Drivers } from '../../provisioners/drivers.ts'
import { pagesInTime } from '../../provisioners/in-time.ts'
import type { ChangeParts } from '../../scim/users/change-user.flow.ts'
import { requireProtocol, type SyncSettings, syncSettingsOf } from '../protocol.ts'
import { closeRun, forget, type RunEnd } from './close-run-store.ts'
import { compareGroups, comparePeople } from './compare.flow.ts'
import { countChanges, countGoing } from './compare-store.ts'
import { heldTx, RunLost } from './held-tx.ts'
import { openSource, requireNoScimKey, type SourceParts } from './open-source.flow.ts'
import { chunksOf, rowsOf } from './read-rows.ts'
import { saveRead } from './read-store.ts'
import {
  beginGroups,
  beginWriting,
  dropRead,
  dropRun,
  isHeld,
  type OpenRun,
  openRun,
  putOffRun,
} from './run-lease-store.ts'
import { countsOf, findTooMany } from './sync-run.ts'
import { writeGroups } from './write-groups.flow.ts'
import { writePeople, writtenChanges } from './write-people.flow.ts'

/** A page may wait for the directory's own rate limit. */
const maxPageMs = 300_000

/** The directory is not ours, and its list may never end. */
const maxPages = 100_000
const maxRead = { people: 200_000, groups: 50_000, members: 2_000_000 }

/** Rows that one statement writes. */
const maxRows = 500

/** A run that was taken up this often never comes to its end. */
const maxAttempts = 5
const retry = { base: 15, max: 300 }
/** After the directory's rate limit had no room. */
const maxNotNowSeconds = 60

type Parts = SourceParts & ChangeParts & { drivers: Drivers }

/**
 * Reads a directory, compares all of it with the users and groups here, and then writes what differs. Nothing is written before
 * everything was read: a directory that fails in the middle changes nothing. A run that is interrupted while it writes goes on where it was.
 */
export function readDirectory(parts: Parts): DueWork {
  return {
    table: 'sync_run',
    bounds: { width: 4, perTenant: 1 },
    async run(ctx, item) {
      const run = await openRun(ctx.tx, item)
      if (run === undefined) return
      if (!run.enabled && run.requested_by === null) return dropRun(ctx.tx, item)
      const syncing = syncingOf(ctx, item, run)
      try {
        const end = await runOnce(syncing, parts)
        if (end !== undefined) await close(syncing, end)
      } catch (error) {
        await endEarly(syncing, error)
      }
    },
  }
}

type Syncing = { ctx: GroupingCtx; item: WorkItem; run: OpenRun; settings: SyncSettings }

function syncingOf(ctx: WorkCtx, item: WorkItem, run: OpenRun): Syncing {
  const { identity_provider_id, configured_by: author } = run
  const source = 'identity_provider'
  return { ctx: { ...ctx, identity_provider_id, author, source }, item, run, settings: syncSettingsOf(run.config) }
}

/** Undefined where the run is not ours any more. */
async function runOnce(syncing: Syncing, parts: Parts): Promise<RunEnd | undefined> {
  const { run } = syncing
  if (!run.enabled) return failed('the identity provider is switched off; switch it on first')
  if (run.attempts > maxAttempts) return failed(`the run began ${maxAttempts} times and never came to its end`)
  if (run.phase === 'reading') {
    const end = await readAndCompare(syncing, parts)
    if (end !== 'go on') return end
  }
  return write(syncing, parts)
}

const failed = (error: string): RunEnd => ({ status: 'failed', error, counts: null })

async function readAndCompare(syncing: Syncing, parts: Parts): Promise<RunEnd | 'go on' | undefined> {
  const { ctx, item, run, settings } = syncing
  if (!(await readAll(syncing, parts)) || !(await comparePeople(ctx, item))) return undefined
  if (settings.groups && !(await compareGroups(ctx, item))) return undefined
  const rows = await countChanges(ctx, item)
  const counts = countsOf(rows)
  const going = await countGoing(ctx, item, run.confirms)
  const tooMany = findTooMany(going)
  if (run.dry_run) return { status: 'synced', error: null, counts, ...(tooMany !== undefined && { tooMany: going }) }
  if (tooMany !== undefined) {
    const error = `${tooMany}: look at the changes of this run, and confirm its removals if they are right`
    return { status: 'failed', error, counts, tooMany: going }
  }
  const isWritten = (change: string) => writtenChanges.includes(change) || change === 'empty'
  const total = rows.reduce((sum, row) => (isWritten(row.change) && !row.failed ? sum + row.count : sum), 0)
  return (await beginWriting(ctx.tx, item, total)) ? 'go on' : undefined
}

async function readAll({ ctx, item, run, settings }: Syncing, parts: Parts): Promise<boolean> {
  const { tx, identity_provider_id: id } = ctx
  await requireNoScimKey(tx, id)
  await dropRead(tx, item)
  const read = await openSource(parts, tx, { ...run, id, protocol: requireProtocol(run) })
  const count = { pages: 0, people: 0, groups: 0, members: 0 }
  for await (const page of pagesInTime(maxPageMs, (signal) => read({ groups: settings.groups }, signal))) {
    const rows = rowsOf(page)
    count.pages += 1
    for (const kind of ['people', 'groups', 'members'] as const) {
      count[kind] += rows[kind].length
      if (count[kind] > maxRead[kind]) throw tooLong(`${maxRead[kind]} ${kind}`)
    }
    if (count.pages > maxPages) throw tooLong(`${maxPages} pages`)
    for (const chunk of chunksOf(rows, maxRows)) if (!(await saveRead(tx, item, chunk))) return false
  }
  return true
}

const tooLong = (limit: string) =>
  new TargetError('permanent', `the directory has more than ${limit}: narrow what is read, by a filter or a base`)

async function write({ ctx, item, run, settings }: Syncing, parts: Parts): Promise<RunEnd | undefined> {
  const { tx } = ctx
  const inside = { ...ctx, tx: heldTx(tx, (within) => isHeld(within, item)) }
  if (run.phase !== 'groups') {
    if (!(await writePeople({ tx, item, ctx: inside, parts: { ...parts, areConfirmed: true } }))) return undefined
    if (settings.groups && !(await compareGroups(ctx, item))) return undefined
    if (!(await beginGroups(tx, item))) return undefined
  }
  if (settings.groups && !(await writeGroups({ tx, item, ctx: inside }))) return undefined
  return { status: 'synced', error: null, counts: countsOf(await countChanges(ctx, item)) }
}

async function endEarly(syncing: Syncing, error: unknown): Promise<void> {
  const { ctx, item, run } = syncing
  if (error instanceof RunLost) return
  if (error instanceof NotNow) {
    return putOffRun(ctx.tx, item, Math.min(error.after_ms / 1_000 + 1, maxNotNowSeconds), { failed: false })
  }
  const isOfDirectory = error instanceof TargetError || (error instanceof Problem && error.code === 'unprocessable')
  if (!isOfDirectory) {
    // Whatever a run met that is not to go on, it met it because of that.
    if (await isHeld(ctx.tx, item)) throw error
    return
  }
  const mayPass = error instanceof TargetError && error.kind === 'transient' && run.attempts < maxAttempts
  if (mayPass) return putOffRun(ctx.tx, item, backoffDelay(retry, run.attempts), { failed: true })
  await close(syncing, failed(error.message.slice(0, maxMessageLength)))
}

async function close({ ctx, item, settings }: Syncing, end: RunEnd): Promise<void> {
  await closeRun(ctx, item, end, settings)
  await forget(ctx, item)
}

const maxMessageLength = 1_000
