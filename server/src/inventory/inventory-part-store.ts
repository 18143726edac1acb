import { sql } from '../db/sql.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { Config } from '../provisioners/driver.ts'
import type { ProvisionerType } from '../provisioners/provisioner.ts'
import type { InventoryPart } from '../provisioners/target-inventory.ts'
import { readAgainSeconds } from './inventory-part.ts'

/** A part of the inventory of a provisioner, when a run of it begins. */
export type PartToRead = {
  part: InventoryPart
  provisioner: ProvisionerType
  provisioner_id: string
  provisioner_version: number
  config: Config
  failures: number
}

/** INVARIANT: every write of a run has this in its `where`: a run that lost its lease writes nothing. */
function isOurs(tx: Tx, item: WorkItem): Statement {
  return sql`p.tenant_id = ${tx.tenant_id} and p.id = ${item.id} and p.generation = ${item.generation}::bigint`
}

/**
 * The common table expression `held`: the part, as long as its lease is ours, locked so that no later run begins before the write has
 * committed. Without a row, nothing may be written. The provisioner is locked before: each written row refers to it, and its deletion has
 * locked it too before its parts go.
 */
export function held(tx: Tx, item: WorkItem): Statement {
  return sql`held as materialized (
    select p.provisioner_id, p.generation as run, p.finished_run from (
        select r.id from provisioner r where r.tenant_id = ${tx.tenant_id} and r.id = (
          select p.provisioner_id from inventory_part p where p.tenant_id = ${tx.tenant_id} and p.id = ${item.id})
        for key share) r
      join inventory_part p on p.provisioner_id = r.id
    where ${isOurs(tx, item)} for share of p)`
}

/** Undefined if the lease was lost. */
export async function openPart(tx: Tx, item: WorkItem): Promise<PartToRead | undefined> {
  const [part] = await tx.read(
    sql<PartToRead>`select p.part, r.provisioner_type as provisioner, r.id as provisioner_id,
        r.version as provisioner_version, r.config, p.failures
      from inventory_part p join provisioner r on r.tenant_id = p.tenant_id and r.id = p.provisioner_id
      where ${isOurs(tx, item)}`,
  )
  return part
}

/** The run came to its end with these counts. `message`: what is missing nevertheless. */
export async function closePart(
  tx: Tx,
  item: WorkItem,
  part: InventoryPart,
  { counts, message }: { counts: Statement; message: string | null },
): Promise<void> {
  await tx.write([
    sql`update inventory_part p set lease_until = null, finished_at = clock_timestamp(), finished_run = p.generation,
        failures = 0, last_error = ${message}, counts = ${counts},
        next_look_at = clock_timestamp() + make_interval(secs => ${readAgainSeconds(part)})
      where ${isOurs(tx, item)}`,
  ])
}

/** The run was interrupted and begins again after `seconds`. `message`: undefined if nothing failed. */
export async function putOffPart(tx: Tx, item: WorkItem, seconds: number, message: string | undefined): Promise<void> {
  await tx.write([
    sql`update inventory_part p set lease_until = null,
        next_look_at = clock_timestamp() + make_interval(secs => ${seconds}),
        failures = p.failures + ${message === undefined ? 0 : 1},
        last_error = coalesce(${message ?? null}, p.last_error)
      where ${isOurs(tx, item)}`,
  ])
}

/**
 * Has these parts read soon: those that never were, and those that have failed. `changed`: the provisioner leads elsewhere, or reads with
 * other rights, so that all of them are read again, and a run under way writes nothing more.
 */
export function beginInventory(
  tx: Tx,
  provisioner_id: string,
  parts: readonly InventoryPart[],
  changed: boolean,
): Statement {
  const isStale = sql`${changed}::boolean or (inventory_part.failures > 0
    and coalesce(inventory_part.lease_until < clock_timestamp(), true))`
  return sql`insert into inventory_part (tenant_id, id, provisioner_id, part, next_look_at)
    select r.tenant_id, gen_random_uuid(), r.id, part, clock_timestamp()
    from provisioner r cross join unnest(${[...parts]}::text[]) part
    where r.tenant_id = ${tx.tenant_id} and r.id = ${provisioner_id}
    order by part
    on conflict (tenant_id, provisioner_id, part) do update set next_look_at = excluded.next_look_at, failures = 0,
      lease_until = null, generation = inventory_part.generation + 1,
      finished_run = case when ${changed}::boolean then inventory_part.generation + 1
        else inventory_part.finished_run end
      where ${isStale}`
}

/** Has every part read now, except those that are being read. */
export function refreshInventory(tx: Tx, provisioner_id: string): Statement {
  return sql`update inventory_part p set next_look_at = clock_timestamp()
    where p.tenant_id = ${tx.tenant_id} and p.provisioner_id = ${provisioner_id}
      and p.next_look_at > clock_timestamp() and coalesce(p.lease_until < clock_timestamp(), true)`
}
