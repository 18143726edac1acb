import { inParts } from './in-parts.ts'

type Query = (text: string, values?: unknown[]) => Promise<readonly unknown[]>

/** The columns of each table that name a row of a life, or are of it alone. The others are copied as they are. */
const lifeTables: Record<string, readonly string[]> = {
  access_request: ['id'],
  decision: ['id', 'request_id'],
  entitlement: ['id'],
  access_grant: ['id', 'request_id', 'entitlement_id'],
  sandbox_operation: ['id'],
  event: ['id', 'subject_id'],
  notification: ['id', 'event_id', 'resource_id'],
}

/** The tables that grow with every life cycle. */
export const growingTables = Object.keys(lifeTables)

/** Then statistics of these tables are only what the caller has PostgreSQL gather. */
export async function keepFromAutovacuum(query: Query): Promise<void> {
  // A partitioned table has no storage parameters: its partitions have them.
  const tables = (await query(
    `select coalesce(inhrelid, name::regclass)::regclass::text as name
      from unnest($1::text[]) name left join pg_inherits on inhparent = name::regclass`,
    [growingTables],
  )) as { name: string }[]
  for (const { name } of tables) await query(`alter table ${name} set (autovacuum_enabled = off)`)
}

type CopyOptions = { of_events?: number }

/**
 * Copies the lives of a tenant that are there, with all that belongs to them, `times` times, each copy a minute older than the one before.
 * Copies of events count as delivered. `of_events`: every so many copies have their events, with what follows from them.
 */
export async function multiplyLives(
  query: Query,
  tenant_id: string,
  times: number,
  options?: CopyOptions,
): Promise<void> {
  const copy = await keepLives(query, tenant_id, options)
  await copy(1, times)
}

/** The same in several times: the returned function makes the copies with these numbers of the lives that are there now. */
export async function keepLives(
  query: Query,
  tenant_id: string,
  { of_events = 1 }: CopyOptions = {},
): Promise<(first: number, last: number) => Promise<void>> {
  for (const table of growingTables) {
    await query(`drop table if exists pg_temp.life_${table}`)
    await query(`create temp table life_${table} as select * from ${table} where tenant_id = $1`, [tenant_id])
  }
  return async (first, last) => {
    // Copies need no check of what they refer to.
    await query('set session_replication_role = replica')
    for (const table of growingTables) {
      const columns = (await query(
        `select attname::text as name, atttypid = 'timestamptz'::regtype as "isMoment"
          from pg_attribute where attrelid = $1::text::regclass and attnum > 0
          and not attisdropped and attgenerated = '' and pg_get_serial_sequence($1::text, attname::text) is null`,
        [table],
      )) as { name: string; isMoment: boolean }[]
      const names = columns.map(({ name }) => name)
      const values = columns.map(({ name, isMoment }) =>
        isMoment ? `${name} - make_interval(mins => n)` : valueIn(table, name),
      )
      const isCopied = table in ofLife ? `${ofLife[table]} and n % ${of_events} = 0` : 'true'
      await inParts(last - first + 1, (from, until) =>
        query(
          `insert into ${table} (${names.join(', ')})
            select ${values.join(', ')} from life_${table}, generate_series($1::integer, $2::integer) n
            where ${isCopied} order by n desc`,
          [from + first - 1, until + first - 1],
        ),
      )
    }
    await query('reset session_replication_role')
  }
}

/** The value of a column in a copy. */
function valueIn(table: string, name: string): string {
  if (lifeTables[table]?.includes(name)) return isText(table, name) ? `${copyOf(`${name}::uuid`)}::text` : copyOf(name)
  if (name === 'target_key' || (table === 'sandbox_operation' && name === 'key')) return `${name} || ' ' || n`
  return table === 'entitlement' && name === 'target'
    ? `target || jsonb_build_object('key', target ->> 'key' || ' ' || n)`
    : name
}

/** Which rows belong to lives, of the tables that have several for each. */
const ofLife: Record<string, string> = {
  event: `subject_type in ('request', 'grant')`,
  notification: `resource_type in ('access_request', 'access_grant')`,
  sandbox_operation: 'true',
}

const isText = (table: string, column: string) => table === 'event' && column === 'subject_id'

/** The id of a copy: as `newId` makes them, of a minute earlier for each `n`. */
function copyOf(id: string): string {
  const ms = `('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint`
  return `(lpad(to_hex(${ms} - 60000::bigint * n), 12, '0') || '7' || substr(md5(${id}::text || n), 1, 3) || '8'
    || substr(md5(${id}::text || n), 5, 15))::uuid`
}
