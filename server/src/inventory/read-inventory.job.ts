import type { WorkItem } from '../jobs/claim.ts'
import type { DueWork } from '../jobs/work-list.ts'
import type { WorkCtx } from '../kernel/context.ts'
import { NotNow, TargetError } from '../provisioners/driver.ts'
import type { Drivers, DriverTypes } from '../provisioners/drivers.ts'
import { pagesInTime } from '../provisioners/in-time.ts'
import { fieldsToFind } from '../provisioners/set-up.ts'
import type { InventoryPage } from '../provisioners/target-inventory.ts'
import { countsOf } from './inventory-count-store.ts'
import { readAgainSeconds, retrySeconds } from './inventory-part.ts'
import { closePart, openPart, type PartToRead, putOffPart } from './inventory-part-store.ts'
import { removeUnseen, saveAccounts, saveSeen } from './inventory-store.ts'
import { maxRows, type RowKind, rowsOf, type SeenRows, withinLimits } from './seen-rows.ts'

/** A page may wait for the target's own rate limit, behind grants. */
const maxPageMs = 120_000

/** The target is not ours, and its list may never end. */
const maxPages = 1_000_000

/** After the target's rate limit had no room. */
const maxNotNowSeconds = 60

/**
 * Reads a part of what a target says of itself, page by page, for lists that people read. Nothing else follows from it: neither a grant
 * nor a sweep asks the inventory. Also of a disabled provisioner, since administrators want to see it before they turn it on.
 */
export function readInventory(drivers: Drivers, types: DriverTypes): DueWork {
  return {
    table: 'inventory_part',
    bounds: { width: 4, perTenant: 2 },
    async run(ctx, item) {
      const part = await openPart(ctx.tx, item)
      if (part === undefined) return
      if (fieldsToFind(types[part.provisioner], part.config).length > 0) {
        // Once a test finds them, the inventory begins.
        await putOffPart(ctx.tx, item, readAgainSeconds(part.part), undefined)
        return
      }
      try {
        await readPart(ctx, item, part, { drivers, types })
      } catch (error) {
        if (error instanceof NotNow) {
          await putOffPart(ctx.tx, item, Math.min(error.after_ms / 1_000 + 1, maxNotNowSeconds), undefined)
        } else if (error instanceof TargetError) {
          await putOffPart(ctx.tx, item, retrySeconds(part.failures), error.message.slice(0, maxMessageLength))
        } else throw error
      }
    },
  }
}

const maxMessageLength = 1_000

async function readPart(
  ctx: WorkCtx,
  item: WorkItem,
  read: PartToRead,
  { drivers, types }: { drivers: Drivers; types: DriverTypes },
): Promise<void> {
  const { part, provisioner, provisioner_id, config } = read
  const { tx } = ctx
  const driver = await drivers.of(tx, read)
  const { readInventory } = driver
  const issuer = types[provisioner].userLookupOf?.(config).external_id_issuer ?? null
  let leftOut: string[] = []
  if (readInventory !== null) {
    const saved = await savePages(
      pagesInTime(maxPageMs, (signal) => readInventory(part, signal)),
      { issuer, save: (rows) => saveSeen(tx, item, rows) },
    )
    // The run after this one begins at the beginning.
    if (saved === 'lost' || !(await removeUnseen(tx, item, part))) return
    leftOut = saved
  }
  if (part === 'accounts') await saveAccounts(ctx, item, provisioner_id)
  const message = leftOut.length === 0 ? null : `the target has more than Sallyport lists: ${leftOut.join(', ')}`
  await closePart(tx, item, part, { counts: countsOf(tx, provisioner_id, part), message })
}

/** Saves page by page. Returns what exceeded a limit; `lost` if the lease was lost. */
async function savePages(
  pages: AsyncIterable<InventoryPage>,
  { issuer, save }: { issuer: string | null; save: (rows: SeenRows) => Promise<boolean> },
): Promise<string[] | 'lost'> {
  const kept: Record<RowKind, number> = { resources: 0, people: 0, groups: 0, members: 0, assignments: 0 }
  const kinds = Object.keys(kept) as RowKind[]
  const exceeded = new Set<RowKind>()
  let read = 0
  for await (const page of pages) {
    read += 1
    if (read > maxPages) throw new TargetError('permanent', `the target's list has more than ${maxPages} pages`)
    const all = rowsOf(page, issuer)
    const rows = withinLimits(all, kept)
    for (const kind of kinds) {
      kept[kind] += rows[kind].length
      if (rows[kind].length < all[kind].length) exceeded.add(kind)
    }
    if (kinds.some((kind) => rows[kind].length > 0) && !(await save(rows))) return 'lost'
  }
  return [...exceeded].map((kind) => `${kind} beyond ${maxRows[kind]}`)
}
