/**
 * Deletes a tenant, as the role that owns the tables. INVARIANT: every statement runs behind the wall of that one tenant, which row-level
 * security forces on the owner too, so none can touch a row of another.
 */
import { isAtTarget, mayHoldLost } from '../db/at-target.ts'
import { type ConnectionTarget, connectAlone, type SingleConnection } from '../db/client/connect.ts'
import type { LongWork } from './backup.ts'
import { type BackupTable, listTenantTables } from './backup-tables.ts'
import type { InspectedExport } from './inspect-export.ts'

/** A tenant that was deleted, or whose deletion has begun: `deleted_at` is null while rows are left. */
export type DeletedTenant = {
  id: string
  name: string
  slug: string | null
  begun_at: string
  deleted_at: string | null
  export_sha256: string
  deleted_rows: number
}

/** Rows of one transaction: its locks last for moments. */
const batch = 2_000

/** How long a statement waits for a lock that the service holds. */
const lockTimeout = '5s'

/** How often all tables are gone through. Two are usual. */
const maxRounds = 10

const foreignKeyViolation = '23503'
const lockNotAvailable = '55P03'

const shownColumns = 'id, name, slug, begun_at, deleted_at, export_sha256, deleted_rows::float8 as deleted_rows'

/** The deleted tenants, and those whose deletion has begun, the latest first. */
export function listDeletedTenants(owner: ConnectionTarget): Promise<DeletedTenant[]> {
  return connected(owner, async (client) => {
    const { rows } = await client.query<DeletedTenant>(
      `select ${shownColumns} from deleted_tenant order by begun_at desc, id`,
    )
    return rows
  })
}

/** The tenant whose deletion has begun and is not finished, by its id or its slug. */
export function findUnfinishedDeletion(owner: ConnectionTarget, named: string): Promise<DeletedTenant | undefined> {
  return connected(owner, async (client) => {
    const { rows } = await client.query<DeletedTenant>(
      `select ${shownColumns} from deleted_tenant where deleted_at is null and (id::text = lower($1) or slug = $1)`,
      [named],
    )
    return rows[0]
  })
}

/**
 * Begins the deletion: from then on the service no longer sees the tenant, and there is no way back.
 * @throws Error with a sentence for a tenant that is not suspended, has access that is live or may be at a target, or of which the export
 *   lacks an event
 */
export function beginDeletion(owner: ConnectionTarget, held: InspectedExport): Promise<void> {
  return connected(owner, (client) =>
    inTenant(client, held.tenant_id, async () => {
      // Every event refers to this row: it waits for those that are being written, and later ones wait for it.
      const { rows } = await client.query<{ suspended: boolean }>(
        'select suspended_at is not null as suspended from tenant where id = $1 for update',
        [held.tenant_id],
      )
      const [tenant] = rows
      if (tenant === undefined) throw new Error(`there is no tenant \`${held.tenant_id}\`, of which the file is`)
      if (!tenant.suspended)
        throw new Error('the tenant is not suspended: `tenant suspend` it first, with --end-access')
      await requireNothingHeld(client, held.tenant_id)
      await requireAllEvents(client, held)
      await client.query(
        `with begun as (update tenant set deleting_since = clock_timestamp() where id = $1 returning id, name, slug)
          insert into deleted_tenant (id, name, slug, export_sha256) select id, name, slug, $2 from begun
          on conflict (id) do update set name = excluded.name, slug = excluded.slug, begun_at = excluded.begun_at,
            deleted_at = null, export_sha256 = excluded.export_sha256, deleted_rows = 0`,
        [held.tenant_id, held.sha256],
      )
    }),
  )
}

/** Nothing of the tenant is wanted, or is or may be, at a target: nobody could take it away later. As a provisioner counts what is in use. */
async function requireNothingHeld(client: SingleConnection, tenant_id: string): Promise<void> {
  const { rows } = await client.query<{ live: number; at_targets: number; unread: number }>(
    `select
      (select count(*)::int from access_grant where tenant_id = $1 and status in ('pending', 'active')) as live,
      (select count(*)::int from entitlement e where e.tenant_id = $1 and ${isAtTarget.text}) as at_targets,
      (select count(*)::int from provisioner p where p.tenant_id = $1 and ${mayHoldLost.text}) as unread`,
    [tenant_id],
  )
  const { live, at_targets, unread } = rows[0] ?? { live: 0, at_targets: 0, unread: 0 }
  if (live > 0) throw new Error(`the tenant has live grants ${live}: end them with \`tenant suspend --end-access\``)
  if (at_targets > 0) {
    throw new Error(
      `access of the tenant may still be at its targets, in places ${at_targets}: wait until the service has taken it away. ` +
        'What is left are orphans of its provisioners: `tenant resume` it, end them, and suspend it again',
    )
  }
  if (unread > 0) {
    throw new Error(
      `access of the tenant may still be at its targets, which were not compared with its grants since a restore or a failover, provisioners ${unread}: ` +
        'wait until they were. If one cannot be, `tenant resume` it, disable the provisioner, suspend it again, and wait for an hour',
    )
  }
}

async function requireAllEvents(client: SingleConnection, held: InspectedExport): Promise<void> {
  const { rows } = await client.query<{ events: number; last_event_id: string | null; newer: number | null }>(
    `select (select count(*)::float8 from event where tenant_id = $1) as events,
      (select id from event where tenant_id = $1 order by seq desc limit 1) as last_event_id,
      (select count(*)::float8 from event e where e.tenant_id = $1 and e.seq > l.seq) as newer
      from (values ($2::uuid)) h left join event l on l.tenant_id = $1 and l.id = h.column1`,
    [held.tenant_id, held.last_event_id],
  )
  const [now] = rows
  if (now?.events === held.events && (now.last_event_id ?? undefined) === held.last_event_id) return
  const newer = held.last_event_id === undefined ? now?.events : now?.newer
  // Fewer may be left than the file holds: `events drop` drops old ones, and records that it did.
  const since = newer ? `, events ${newer}` : ''
  throw new Error(`the file lacks what was recorded since it was made${since}: export again`)
}

/**
 * Deletes every row of a tenant whose deletion has begun, in batches, and keeps what was deleted on record. If it is interrupted, another
 * call goes on. Returns the record.
 */
export function finishDeletion(
  owner: ConnectionTarget,
  tenant_id: string,
  work: LongWork = {},
): Promise<DeletedTenant> {
  return connected(owner, async (client) => {
    const tables = (await listTenantTables(client)).filter(({ name }) => name !== 'tenant').reverse()
    let rows = 0
    const deleted = async (count: number) => {
      rows += count
      await work.onRows?.(rows)
      work.signal?.throwIfAborted()
    }
    for (let round = 1; ; round += 1) {
      try {
        for (const table of tables) await emptyTable(client, table, tenant_id, deleted)
        return await endDeletion(client, tables, tenant_id)
      } catch (error) {
        // A trigger wrote down what a deleted row had given, or a call was under way: there are rows again in a table that was empty.
        if (codeOf(error) !== foreignKeyViolation || round === maxRounds) throw error
      }
    }
  })
}

async function emptyTable(
  client: SingleConnection,
  table: BackupTable,
  tenant_id: string,
  deleted: (count: number) => Promise<void>,
): Promise<void> {
  for (let count = batch; count >= batch; ) {
    count = await inTenant(client, tenant_id, () => deleteRows(client, table, tenant_id, batch))
    await deleted(count)
  }
}

/** The last rows and the tenant itself, in one transaction, in which no call can add one. */
function endDeletion(
  client: SingleConnection,
  tables: readonly BackupTable[],
  tenant_id: string,
): Promise<DeletedTenant> {
  return inTenant(client, tenant_id, async () => {
    await client.query('select from tenant where id = $1 for update', [tenant_id])
    for (const table of tables) await deleteRows(client, table, tenant_id, null)
    await client.query('delete from tenant where id = $1', [tenant_id])
    const { rows } = await client.query<DeletedTenant>(
      `update deleted_tenant set deleted_at = clock_timestamp(), deleted_rows = deleted_rows + 1
        where id = $1 and deleted_at is null returning ${shownColumns}`,
      [tenant_id],
    )
    const [record] = rows
    if (record === undefined) throw new Error('another command has deleted the tenant meanwhile')
    return record
  })
}

/**
 * Deletes rows of one table, and counts them in the record of the deletion. `limit`: about so many (null: all). Of a partitioned table it
 * may be more, because rows of different partitions have the same place there.
 */
async function deleteRows(
  client: SingleConnection,
  { name, tenant_column }: BackupTable,
  tenant_id: string,
  limit: number | null,
): Promise<number> {
  const [table, column] = [client.escapeIdentifier(name), client.escapeIdentifier(String(tenant_column))]
  const { rows } = await client.query<{ count: number }>(
    `with gone as (
        delete from ${table} where ${column} = $1
          and ctid = any(array(select ctid from ${table} where ${column} = $1 limit $2))
        returning 1),
      counted as (
        update deleted_tenant d set deleted_rows = d.deleted_rows + (select count(*) from gone) where d.id = $1)
      select count(*)::int as count from gone`,
    [tenant_id, limit],
  )
  return rows[0]?.count ?? 0
}

/** A transaction behind the wall of the tenant. */
async function inTenant<Result>(
  client: SingleConnection,
  tenant_id: string,
  work: () => Promise<Result>,
): Promise<Result> {
  await client.query('begin')
  try {
    await client.query(`select set_config('app.tenant_id', $1, true), set_config('lock_timeout', $2, true)`, [
      tenant_id,
      lockTimeout,
    ])
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback')
    if (codeOf(error) !== lockNotAvailable) throw error
    throw new Error('the service works on the tenant just now: run this again', { cause: error })
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string }).code
}

async function connected<Result>(
  owner: ConnectionTarget,
  work: (client: SingleConnection) => Promise<Result>,
): Promise<Result> {
  const client = await connectAlone(owner)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
