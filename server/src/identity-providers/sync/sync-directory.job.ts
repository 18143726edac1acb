import type { GroupingCtx } from '../../http/scim-operation.ts'
import type { WorkItem } from '../../jobs/claim.ts'
import type { DueWork } from '../../jobs/work-list.ts'
import { backoffDelay } from '../../kernel/backoff.ts'
import type { WorkCtx } from '../../kernel/context.ts'
import { Problem } from '../../kernel/errors.ts'
import { TargetError } from '../../provisioners/driver.ts'
import type { Drivers } from '../../provisioners/drivers.ts'
import { pagesInTime } from '../../provisioners/in-time.ts'
import { directoryLimits } from '../../provisioners/target-directory.ts'
import type { ChangeParts } from '../../scim/users/change-user.flow.ts'
import { requireProtocol } from '../protocol.ts'
import { type SyncSettings, syncSettingsOf } from '../sync-settings.ts'
import { closeRun, forget, type RunEnd } from './close-run-store.ts'
import { compareGroups, comparePeople } from './compare.flow.ts'
import { countChanges, countGoing, leaveUnconfirmed } from './going-store.ts'
import { heldTx, LeaseLost } from './held-tx.ts'
import { openDirectory, requireConfigured, requireNoScimKey, type SourceParts } from './open-directory.flow.ts'
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
import { countsOf, countWritten, findTooMany } from './sync-run.ts'
import { writeGroups } from './write-groups.flow.ts'
import { writePeople } from './write-people.flow.ts'

/** A page may wait for the directory's own rate limit. */
const maxPageMs = 300_000

/** The directory is not ours, and its list may never end. */
const maxPages = 100_000

/** After so many pages, the run makes sure that it is still to go on. */
const pagesUntilCheck = 10

/** Rows that one statement writes. */
const maxRows = 500

/** A run that was taken up this often never comes to its end. */
const maxAttempts = 5
const retry = { base: 15, max: 300 }
/** While its tenant is suspended, a run waits, and is not interrupted by that. */
const suspendedSeconds = 3_600

/** How long a whole reading may take: a slow directory keeps others waiting. */
const maxReadingMs = 2 * 3_600_000

type Parts = SourceParts & ChangeParts & { drivers: Drivers }

/**
 * Reads a directory, compares all of it with the users and groups here, and then writes what differs. Nothing is written before
 * everything was read: a directory that fails in the middle changes nothing. A run that is interrupted while it writes goes on where it was.
 */
export function syncDirectory(parts: Parts): DueWork {
  return {
    table: 'sync_run',
    bounds: { width: 8, perTenant: 1 },
    async run(ctx, item) {
      const run = await openRun(ctx.tx, item)
      if (run === undefined) return
      if (run.suspended) return putOffRun(ctx.tx, item, suspendedSeconds, { failed: false })
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

/** Undefined if the lease was lost. */
async function runOnce(syncing: Syncing, parts: Parts): Promise<RunEnd | undefined> {
  const { run } = syncing
  if (!run.enabled) return failed('the identity provider is switched off; set `enabled` to true, and sync again')
  if (run.attempts > maxAttempts)
    return failed(
      `the run was interrupted ${maxAttempts} times; what it had written stays: look at its changes, and sync again`,
    )
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
  if (settings.groups && !(await compareGroups(ctx, item, { isAgain: false }))) return undefined
  if (run.confirms !== null) await leaveUnconfirmed(ctx, item, run.confirms)
  const rows = await countChanges(ctx, item)
  const counts = countsOf(rows)
  const going = await countGoing(ctx, item)
  const tooMany = run.confirms === null ? findTooMany(going) : undefined
  if (run.dry_run) return { status: 'synced', error: null, counts, ...(tooMany !== undefined && { tooMany: going }) }
  if (tooMany !== undefined) {
    const error = `${tooMany}: look at the changes of this run, and confirm its removals if they are right`
    return { status: 'failed', error, counts, tooMany: going }
  }
  return (await beginWriting(ctx.tx, item, countWritten(rows))) ? 'go on' : undefined
}

async function readAll({ ctx, item, run, settings }: Syncing, parts: Parts): Promise<boolean> {
  const { tx, identity_provider_id: id } = ctx
  await requireNoScimKey(tx, id)
  requireConfigured(run)
  await dropRead(tx, item)
  const read = await openDirectory(parts, tx, { ...run, id, protocol: requireProtocol(run) })
  const count = { pages: 0, people: 0, groups: 0, members: 0 }
  const beganAt = performance.now()
  for await (const page of pagesInTime(maxPageMs, (signal) => read({ groups: settings.groups }, signal))) {
    const rows = rowsOf(page)
    count.pages += 1
    // A page may have nothing to save.
    if (count.pages % pagesUntilCheck === 0 && !(await isHeld(tx, item))) return false
    for (const kind of ['people', 'groups', 'members'] as const) {
      count[kind] += rows[kind].length
      if (count[kind] > directoryLimits[kind]) throw tooLong(`${directoryLimits[kind]} ${kind}`)
    }
    if (count.pages > maxPages)
      throw new TargetError('permanent', `the directory has more than ${maxPages} pages: raise \`page_size\``)
    if (performance.now() - beganAt > maxReadingMs) throw new TargetError('permanent', tooSlow)
    for (const chunk of chunksOf(rows, maxRows)) if (!(await saveRead(tx, item, chunk))) return false
  }
  return true
}

const tooLong = (limit: string) =>
  new TargetError(
    'permanent',
    `the directory has more than ${limit}, which is the limit: let the account that reads it see fewer`,
  )
const tooSlow =
  'the directory took longer than two hours: raise `page_size`, or let the account that reads it see fewer'

async function write({ ctx, item, run, settings }: Syncing, parts: Parts): Promise<RunEnd | undefined> {
  const { tx } = ctx
  const inside = { ...ctx, tx: heldTx(tx, (within) => isHeld(within, item)) }
  if (run.phase !== 'groups') {
    if (!(await writePeople({ tx, item, ctx: inside, parts: { ...parts, removalsGuarded: true } }))) return undefined
    if (settings.groups && !(await compareGroups(ctx, item, { isAgain: true }))) return undefined
    if (!(await beginGroups(tx, item))) return undefined
  }
  if (settings.groups && !(await writeGroups({ tx, item, ctx: inside }))) return undefined
  return { status: 'synced', error: null, counts: countsOf(await countChanges(ctx, item)) }
}

async function endEarly(syncing: Syncing, error: unknown): Promise<void> {
  const { ctx, item, run } = syncing
  if (error instanceof LeaseLost) return
  const isOfDirectory = error instanceof TargetError || (error instanceof Problem && error.code === 'unprocessable')
  if (!isOfDirectory) {
    // A run that must stop fails for that reason alone: its error is not reported.
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
