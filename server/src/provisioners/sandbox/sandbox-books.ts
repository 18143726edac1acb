import { sql } from '../../db/sql.ts'
import type { Tx } from '../../kernel/context.ts'

/** A call as the sandbox receives it; `id` is what it will be asked about by. */
export type Received = { id: string; kind: 'create' | 'delete'; key: string }

type Fate = 'failed' | 'throttled' | 'conflicting' | 'forgotten'

/** How a call fared in the weather of the moment, and after how long the caller hears of it. */
type Fared = { delay_ms: number; fate: Fate | null }

type Operation = { polls_left: number; outcome: 'SUCCEEDED' | 'FAILED' }

/**
 * The pretend cloud's own books need not be on the disk before it answers. Nothing that the ledger learnt from them is lost:
 * both stand in one log, these before what the ledger then writes of them, and that is waited for.
 */
const unhurried = sql`select set_config('synchronous_commit', 'off', true)`

/**
 * Keeps the operations that calls begin, each at its moment. The bad luck of the tenant's weather is spent on the calls in
 * their order, worst first; calm where there is none.
 */
export async function beginOperations(tx: Tx, calls: readonly Received[]): Promise<Fared[]> {
  const [, fared] = await tx.write([
    unhurried,
    sql<Fared>`with weather as (
        select * from sandbox_weather where tenant_id = ${tx.tenant_id} for update),
      fared as materialized (
        select call.*, coalesce(w.polls, 1) as polls, coalesce(w.delay_ms, 0) as delay_ms,
          case when place <= w.forgotten then 'forgotten'
            when place <= w.forgotten + w.throttled then 'throttled'
            when place <= w.forgotten + w.throttled + w.conflicting then 'conflicting'
            when place <= w.forgotten + w.throttled + w.conflicting + w.failed then 'failed' end as fate
        from unnest(${calls.map((call) => call.id)}::uuid[], ${calls.map((call) => call.kind)}::text[],
          ${calls.map((call) => call.key)}::text[]) with ordinality as call (id, kind, key, place)
        left join weather w on true),
      spent as (
        update sandbox_weather w set
          forgotten = w.forgotten - (select count(*) from fared where fate = 'forgotten'),
          throttled = w.throttled - (select count(*) from fared where fate = 'throttled'),
          conflicting = w.conflicting - (select count(*) from fared where fate = 'conflicting'),
          failed = w.failed - (select count(*) from fared where fate = 'failed')
        where w.tenant_id = ${tx.tenant_id} and exists (select from fared where fate is not null)),
      begun as (
        insert into sandbox_operation (tenant_id, id, key, kind, polls_left, outcome)
        select ${tx.tenant_id}::uuid, id, key, kind, greatest(polls, 1), case when fate = 'failed' then 'FAILED' else 'SUCCEEDED' end
        from fared where fate is null or fate in ('failed', 'forgotten') order by place)
      select delay_ms, fate from fared order by place`,
  ])
  return fared
}

/**
 * How operations are going, undefined for one that is unknown; the last poll of one is also when it is done. Once: a late
 * poll by somebody who slept finds it done, as at a real cloud, and does it no second time.
 */
export async function pollOperations(tx: Tx, ids: readonly string[]): Promise<(Operation | undefined)[]> {
  const [, rows] = await tx.write([
    unhurried,
    sql<Operation & { id: string }>`with before as materialized (
        select * from sandbox_operation where tenant_id = ${tx.tenant_id} and id = any(${[...ids]}::uuid[])
        order by id for update),
      polled as (
        update sandbox_operation o set polls_left = greatest(before.polls_left - 1, 0)
        from before where o.tenant_id = before.tenant_id and o.id = before.id
        returning o.id, o.polls_left, o.outcome),
      now_done as (select * from before where polls_left = 1 and outcome = 'SUCCEEDED'),
      created as (
        insert into sandbox_assignment (tenant_id, key, marked) select tenant_id, key, true from now_done where kind = 'create'
        on conflict do nothing),
      deleted as (
        delete from sandbox_assignment a using now_done d
        where a.tenant_id = d.tenant_id and a.key = d.key and d.kind = 'delete')
      select id, polls_left, outcome from polled`,
  ])
  const known = new Map(rows.map((row) => [row.id, row]))
  return ids.map((id) => known.get(id))
}

/** Which of the keys are held. */
export async function findHeld(tx: Tx, keys: readonly string[]): Promise<boolean[]> {
  const rows = await tx.read(
    sql<{ key: string }>`select key from sandbox_assignment
      where tenant_id = ${tx.tenant_id} and key = any(${[...keys]}::text[])`,
  )
  const held = new Set(rows.map((row) => row.key))
  return keys.map((key) => held.has(key))
}

/** The keys that are held and bear our mark, in their order, behind this one. */
export async function listMarked(tx: Tx, after: string, limit: number): Promise<string[]> {
  const rows = await tx.read(
    sql<{ key: string }>`select key from sandbox_assignment
      where tenant_id = ${tx.tenant_id} and marked and key > ${after} order by key limit ${limit}`,
  )
  return rows.map((row) => row.key)
}
