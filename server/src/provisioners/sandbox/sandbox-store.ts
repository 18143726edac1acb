import { plannedOnce, sql } from '../../db/sql.ts'
import type { Tx } from '../../kernel/context.ts'
import { newId } from '../../kernel/id.ts'

/** An act on the sandbox. */
export type Act = { kind: 'create' | 'delete'; key: string }

/**
 * The sandbox answers before its own rows are on disk. The ledger cannot lose what it learned from them: both are in one
 * write-ahead log, the sandbox's rows come first, and the ledger's commit waits for the disk.
 */
const asynchronousCommit = sql`select set_config('synchronous_commit', 'off', true)`

/** Records operations, and returns the id of each. */
export async function beginOperations(tx: Tx, acts: readonly Act[]): Promise<string[]> {
  const ids = acts.map(() => newId())
  await tx.write([
    asynchronousCommit,
    sql`insert into sandbox_operation (tenant_id, id, key, kind, polls_left)
      select ${tx.tenant_id}::uuid, id, key, kind, 1
      from unnest(${ids}::uuid[], ${acts.map((act) => act.kind)}::text[], ${acts.map((act) => act.key)}::text[])
        as act (id, kind, key)`,
  ])
  return ids
}

/**
 * Finishes operations, and returns which of them are known. Each is done once: a late poll of a worker that slept changes
 * nothing, as with a real cloud.
 */
export async function finishOperations(tx: Tx, ids: readonly string[]): Promise<boolean[]> {
  const [, rows] = await tx.write([
    asynchronousCommit,
    sql<{ id: string }>`with known as materialized (
        select * from sandbox_operation where tenant_id = ${tx.tenant_id} and id = any(${[...ids]}::uuid[])
        order by id for update),
      now_done as (
        update sandbox_operation o set polls_left = 0 from known
        where o.tenant_id = known.tenant_id and o.id = known.id and known.polls_left > 0
        returning o.*),
      created as (
        insert into sandbox_assignment (tenant_id, key, marked)
          select tenant_id, key, true from now_done where kind = 'create'
        on conflict do nothing),
      deleted as (
        delete from sandbox_assignment a using now_done d
        where a.tenant_id = d.tenant_id and a.key = d.key and d.kind = 'delete')
      select id from known`,
  ])
  const known = new Set(rows.map((row) => row.id))
  return ids.map((id) => known.has(id))
}

/** Which of the keys are held. */
export async function findHeld(tx: Tx, keys: readonly string[]): Promise<boolean[]> {
  const rows = await tx.read(
    plannedOnce(sql<{ key: string }>`select key from sandbox_assignment
      where tenant_id = ${tx.tenant_id} and key = any(${[...keys]}::text[])`),
  )
  const held = new Set(rows.map((row) => row.key))
  return keys.map((key) => held.has(key))
}

/** The held keys with Sallyport's mark, in order, after this key. */
export async function listMarked(tx: Tx, after: string, limit: number): Promise<string[]> {
  const rows = await tx.read(
    sql<{ key: string }>`select key from sandbox_assignment
      where tenant_id = ${tx.tenant_id} and marked and key > ${after} order by key limit ${limit}`,
  )
  return rows.map((row) => row.key)
}
