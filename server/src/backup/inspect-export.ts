import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { LongWork } from './backup.ts'
import { readBackupFile } from './backup-file.ts'

/** What an export holds of its tenant. */
export type InspectedExport = {
  tenant_id: string
  events: number
  /** The id of the event with the highest `seq`; undefined where there is none. */
  last_event_id: string | undefined
  /** Of the file. */
  sha256: string
}

/**
 * Reads the whole file: it is complete and as it was written, and it holds one tenant, all of it as it was then.
 * @throws Error with a sentence for a file that is damaged, is no backup, or has another number of tenants
 */
export async function inspectExport(file: string, { onRows, signal }: LongWork = {}): Promise<InspectedExport> {
  let tenant_id: string | undefined
  const events = { count: 0, last: { seq: -1n, id: undefined as string | undefined } }
  let rows = 0
  for await (const part of readBackupFile(file)) {
    signal?.throwIfAborted()
    if (part.kind === 'end' && part.tenants !== 1) {
      throw new Error(`\`${file}\` holds ${part.tenants} tenants; name a file of \`tenant export\`, which holds one`)
    }
    if (part.kind !== 'rows') continue
    if (part.table === 'tenant') tenant_id ??= (JSON.parse(part.lines[0] ?? '{}') as { id?: string }).id
    if (part.table === 'event') {
      events.count += part.lines.length
      for (const line of part.lines) {
        const { seq, id } = JSON.parse(line) as { seq: number; id: string }
        if (BigInt(seq) > events.last.seq) events.last = { seq: BigInt(seq), id }
      }
    }
    rows += part.lines.length
    await onRows?.(rows)
  }
  if (tenant_id === undefined) throw new Error(`\`${file}\` holds no tenant`)
  return { tenant_id, events: events.count, last_event_id: events.last.id, sha256: await sha256Of(file) }
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
