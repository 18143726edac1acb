import assert from 'node:assert/strict'
import { sql } from '../../src/db/sql.ts'
import type { Tx } from '../../src/kernel/context.ts'
import { whoMayDecide, whoMayDecideEach } from '../../src/requests/possible-approvers.flow.ts'

/** The ids of users who may decide the request now: asked of it alone, and of many requests at once, which must find the same. */
export async function possibleDeciders(tx: Tx, request_id: string): Promise<string[]> {
  const at = new Date()
  const alone = (await Array.fromAsync(whoMayDecide(tx, request_id, at))).flat()
  const others = await tx.read(
    sql<{ request_id: string }>`select id as request_id from access_request order by id desc limit 5`,
  )
  const asked = [request_id, ...others.map((one) => one.request_id)].map((id) => ({ request_id: id, at }))
  const [among] = ofEach(await Array.fromAsync(whoMayDecideEach(tx, asked)), asked.length)
  assert.deepEqual(among, alone, 'among other requests')
  return alone
}

/** The batches of users of each request, joined. */
export function ofEach(batches: string[][][], count: number): string[][] {
  return Array.from({ length: count }, (_, index) => batches.flatMap((batch) => batch[index] ?? []))
}
