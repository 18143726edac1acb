import { sql } from '../db/sql.ts'
import type { Database } from '../db/transaction.ts'
import type { Statement } from '../kernel/context.ts'

/**
 * Tables that are their own work list: `next_look_at` says when a row next needs a look, `lease_until` who has it until
 * when, `generation` fences whoever lost it.
 */
export type WorkTable =
  | 'access_request'
  | 'access_grant'
  | 'entitlement'
  | 'sweep'
  | 'policy_replay'
  | 'reminder'
  | 'delivery_lane'

/**
 * Which rows of a table are a list of their own: entitlements that a pending grant waits for, and all others; what leaves
 * the house by each type of channel.
 */
export type Part = 'gives' | 'takes' | 'email' | 'webhook'

/** A row whose moment has come, claimed: ours until the lease ends, as long as the generation is still this one. */
export type WorkItem = { tenant_id: string; id: string; generation: string }

/** How much to claim of which list. */
export type ClaimRequest = {
  table: WorkTable
  part: Part | undefined
  max: number
  /** Of one tenant. */
  maxPerTenant: number
  /** Tenants that are passed over. */
  without: readonly string[]
}

/** `left`: more is due than was claimed. `ms`: until the next row is due, null where none is. By the database's clock. */
export type Claim = { items: WorkItem[]; left: boolean; ms: number | null }

export const workTables: Record<WorkTable, Statement> = {
  access_request: sql`access_request`,
  access_grant: sql`access_grant`,
  entitlement: sql`entitlement`,
  sweep: sql`sweep`,
  policy_replay: sql`policy_replay`,
  reminder: sql`reminder`,
  delivery_lane: sql`delivery_lane`,
}

const parts: Record<Part, Statement> = {
  gives: sql`gives and`,
  takes: sql`not gives and`,
  email: sql`channel_type = 'email' and`,
  webhook: sql`channel_type = 'webhook' and`,
}

const lease = sql`clock_timestamp() + interval '20 seconds'`

/** So many portions are looked at to take of few tenants many rows, rather than of many tenants few. */
const portionsScanned = 2

/** Claims what is due, of all these lists in one trip; rows that another process holds are passed over. */
export async function claimDue(database: Database, claimRequests: readonly ClaimRequest[]): Promise<Claim[]> {
  const answers = await database.work.write(claimRequests.map(claimOf))
  return answers.map((rows) => ({
    items: rows.flatMap(({ tenant_id, id, generation }) => (id === null ? [] : [{ tenant_id, id, generation }])),
    left: rows[0]?.left ?? false,
    ms: rows[0]?.ms ?? null,
  }))
}

type ClaimRow = { left: boolean; ms: number | null } & (WorkItem | { [Key in keyof WorkItem]: null })

/**
 * One moment of the database's clock for all of it: what is due after it is the next moment. As a value the moment bounds
 * the scan of the index, which `clock_timestamp()` itself would not: the statement costs what is due, not what is there.
 */
function claimOf({ table, part, max, maxPerTenant, without }: ClaimRequest): Statement<ClaimRow> {
  const name = workTables[table]
  const listed = part === undefined ? sql`` : parts[part]
  const now = sql`(select now from clock)`
  return sql<ClaimRow>`with clock as materialized (select clock_timestamp() as now),
    due as materialized (
      select tenant_id, id, next_look_at from ${name} where ${listed} next_look_at <= ${now}
        and (lease_until is null or lease_until <= ${now}) and tenant_id <> all(${[...without]}::uuid[])
      order by next_look_at limit ${max * portionsScanned}),
    ranked as (
      select tenant_id, id, min(next_look_at) over (partition by tenant_id) as first,
        row_number() over (partition by tenant_id order by next_look_at) as place
      from due),
    picked as (
      select r.tenant_id, r.id
      from (select * from ranked where place <= ${maxPerTenant} order by first, tenant_id, place) r
      cross join lateral (
        select from ${name} w where w.tenant_id = r.tenant_id and w.id = r.id and w.next_look_at <= ${now}
          and (w.lease_until is null or w.lease_until <= ${now})
        for update skip locked) free
      limit ${max}),
    claimed as (
      update ${name} w set generation = w.generation + 1, lease_until = ${lease}
      from picked where w.tenant_id = picked.tenant_id and w.id = picked.id
      returning w.tenant_id, w.id, w.generation)
    select claimed.tenant_id, claimed.id, claimed.generation::text,
      (select count(*) from due) > (select count(*) from claimed) as left,
      extract(epoch from (select next_look_at from ${name} where ${listed} next_look_at > ${now}
        order by next_look_at limit 1) - ${now})::float8 * 1000 as ms
    from clock left join claimed on true`
}

/** The rows of `items` that are still held under their generation. */
function held(items: readonly WorkItem[]): Statement {
  return sql`unnest(${items.map((item) => item.tenant_id)}::uuid[], ${items.map((item) => item.id)}::uuid[],
    ${items.map((item) => item.generation)}::bigint[]) as item (tenant_id, id, generation)
    where w.tenant_id = item.tenant_id and w.id = item.id and w.generation = item.generation`
}

/** Holds on to rows that are still being worked on. */
export async function extendLeases(database: Database, table: WorkTable, items: readonly WorkItem[]): Promise<void> {
  await database.work.write([
    sql`update ${workTables[table]} w set lease_until = ${lease} from ${held(items)} and w.lease_until is not null`,
  ])
}

/** Gives rows back as they are, for whoever looks next. */
export async function releaseLeases(database: Database, table: WorkTable, items: readonly WorkItem[]): Promise<void> {
  await database.work.write([sql`update ${workTables[table]} w set lease_until = null from ${held(items)}`])
}

/** After a fault of ours: given back, to be looked at again a little later, so that a broken row does not spin. */
export function postpone(table: WorkTable, item: WorkItem): Statement {
  return sql`update ${workTables[table]} set lease_until = null, next_look_at = clock_timestamp() + interval '5 seconds'
    where tenant_id = ${item.tenant_id} and id = ${item.id} and generation = ${item.generation}::bigint
      and next_look_at is not null`
}
