import { sql } from '../db/sql.ts'
import type { Database } from '../db/transaction.ts'
import type { Statement } from '../kernel/context.ts'

/**
 * Tables that are their own work list: `next_look_at` is when a row is next due, `lease_until` is when its lease ends, and
 * `generation` fences a worker that lost the lease.
 */
export type WorkTable =
  | 'access_request'
  | 'access_grant'
  | 'entitlement'
  | 'sweep'
  | 'policy_replay'
  | 'reminder'
  | 'invitation_mail'
  | 'notification_mail_queue'
  | 'delivery_lane'
  | 'event_queue'
  | 'claimed_groups'
  | 'inventory_part'
  | 'sync_run'

/**
 * The rows of a table that form a list of their own: entitlements that a pending grant waits for, all other entitlements, and
 * deliveries by type of channel.
 */
export type Part = 'gives' | 'takes' | 'email' | 'webhook'

/** A due row that was claimed: it is ours until the lease ends, as long as the generation is still this one. */
export type WorkItem = { tenant_id: string; id: string; generation: string }

/** How much to claim of which list. */
export type ClaimRequest = {
  table: WorkTable
  part: Part | undefined
  /** 0: nothing is claimed, and the answer says whether something is due. */
  max: number
  /** The maximum of one tenant. */
  maxPerTenant: number
  /** Tenants that are skipped. */
  without: readonly string[]
}

/** `left`: more is due than was claimed. `ms`: time until the next row is due, null if none is. By the database's clock. */
export type Claim = { items: WorkItem[]; left: boolean; ms: number | null }

export const workTables: Record<WorkTable, Statement> = {
  access_request: sql`access_request`,
  access_grant: sql`access_grant`,
  entitlement: sql`entitlement`,
  sweep: sql`sweep`,
  policy_replay: sql`policy_replay`,
  reminder: sql`reminder`,
  invitation_mail: sql`invitation_mail`,
  notification_mail_queue: sql`notification_mail_queue`,
  delivery_lane: sql`delivery_lane`,
  event_queue: sql`event_queue`,
  claimed_groups: sql`claimed_groups`,
  inventory_part: sql`inventory_part`,
  sync_run: sql`sync_run`,
}

/** The parts of each table, each with an index of its own; none: the table is one list. */
export const partsOf: Record<WorkTable, readonly Part[]> = {
  access_request: [],
  access_grant: [],
  entitlement: ['gives', 'takes'],
  sweep: [],
  policy_replay: [],
  reminder: [],
  invitation_mail: [],
  notification_mail_queue: [],
  delivery_lane: ['email', 'webhook'],
  event_queue: [],
  claimed_groups: [],
  inventory_part: [],
  sync_run: [],
}

const parts: Record<Part, Statement> = {
  gives: sql`gives and`,
  takes: sql`not gives and`,
  email: sql`channel_type = 'email' and`,
  webhook: sql`channel_type = 'webhook' and`,
}

/** What follows `from`, up to a further condition, to read the rows of one list. */
export function listRows(table: WorkTable, part: Part | undefined): Statement {
  return sql`${workTables[table]} where ${part === undefined ? sql`` : parts[part]}`
}

export const leaseSeconds = 20

const lease = sql`clock_timestamp() + make_interval(secs => ${leaseSeconds})`

/** How many times the maximum is scanned, so that a claim takes many rows of few tenants instead of few rows of many tenants. */
const portionsScanned = 2

/** Claims due rows of all these lists in one round trip. Rows that another process holds are skipped. */
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
 * The statement reads the database's clock once and compares every row with that moment. As a value, the moment bounds the index
 * scan, which `clock_timestamp()` itself would not. So the cost depends on the due rows, not on all rows.
 */
function claimOf({ table, part, max, maxPerTenant, without }: ClaimRequest): Statement<ClaimRow> {
  const name = workTables[table]
  const rows = listRows(table, part)
  const now = sql`(select now from clock)`
  return sql<ClaimRow>`with clock as materialized (select clock_timestamp() as now),
    due as materialized (
      select tenant_id, id, next_look_at from ${rows} next_look_at <= ${now}
        and (lease_until is null or lease_until <= ${now}) and tenant_id <> all(${[...without]}::uuid[])
      order by next_look_at limit ${Math.max(1, max * portionsScanned)}),
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
      extract(epoch from (select next_look_at from ${rows} next_look_at > ${now}
        order by next_look_at limit 1) - ${now})::float8 * 1000 as ms
    from clock left join claimed on true`
}

/** The rows of `items` that are still held under their generation, locked in the order in which the work on them locks rows. */
function held(table: WorkTable, items: readonly WorkItem[]): Statement {
  return sql`held as materialized (
    select w.tenant_id, w.id
    from unnest(${items.map((item) => item.tenant_id)}::uuid[], ${items.map((item) => item.id)}::uuid[],
      ${items.map((item) => item.generation)}::bigint[]) as item (tenant_id, id, generation)
    join ${workTables[table]} w on w.tenant_id = item.tenant_id and w.id = item.id and w.generation = item.generation
    order by w.tenant_id, w.id for no key update of w)`
}

const isHeld = sql`w.tenant_id = held.tenant_id and w.id = held.id`

/** Extends the leases of rows that are still in flight. */
export async function extendLeases(database: Database, table: WorkTable, items: readonly WorkItem[]): Promise<void> {
  await database.work.write([
    sql`with ${held(table, items)} update ${workTables[table]} w set lease_until = ${lease}
      from held where ${isHeld} and w.lease_until is not null`,
  ])
}

/** Releases rows unchanged, for the next claim. */
export async function releaseLeases(database: Database, table: WorkTable, items: readonly WorkItem[]): Promise<void> {
  await database.work.write([
    sql`with ${held(table, items)} update ${workTables[table]} w set lease_until = null from held where ${isHeld}`,
  ])
}

/** Releases a row after a fault of ours. It is due again a little later, so that a broken row does not spin. */
export function postpone(table: WorkTable, item: WorkItem): Statement {
  return sql`update ${workTables[table]} set lease_until = null, next_look_at = clock_timestamp() + interval '5 seconds'
    where tenant_id = ${item.tenant_id} and id = ${item.id} and generation = ${item.generation}::bigint
      and next_look_at is not null`
}
