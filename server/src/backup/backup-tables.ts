import type { SingleConnection } from '../db/client/connect.ts'

/** A table that a backup holds, as the catalogue describes it. */
export type BackupTable = {
  name: string
  /** The column that names the tenant; null: the table is the service's own. */
  tenant_column: string | null
  /** The columns that are read back; the others take their default. */
  columns: BackupColumn[]
  primary_key: string[]
  /** The tables that its foreign keys lead to. */
  refers_to: string[]
}

export type BackupColumn = { name: string; type: string; not_null: boolean; identity: boolean }

/** What a new database has of its own: its migrations, and its places in the order of delivery, which are translated. */
const leftOut = ['migration', 'event_cursor']

/**
 * Every table of the database but those, each behind the tables that it refers to: the list comes from the catalogue, so
 * that a new table is not forgotten. Left to their defaults are a lease, which died with its holder, and a transaction's
 * number, which means nothing in another server.
 */
export async function listBackupTables(client: SingleConnection): Promise<BackupTable[]> {
  const { rows } = await client.query<BackupTable>(tablesQuery, [leftOut])
  return orderByReference(rows)
}

const tablesQuery = `
  select c.relname::text as name,
    (select a.attname::text from pg_attribute a
      where a.attrelid = c.oid and a.attname = case c.relname when 'tenant' then 'id' else 'tenant_id' end) as tenant_column,
    (select coalesce(jsonb_agg(jsonb_build_object('name', a.attname, 'type', format_type(a.atttypid, null),
          'not_null', a.attnotnull, 'identity', a.attidentity <> '') order by a.attnum), '[]')
      from pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        and a.attname <> 'lease_until' and a.atttypid <> 'xid8'::regtype) as columns,
    array(select a.attname::text
      from pg_constraint k, unnest(k.conkey) with ordinality as part (attnum, place), pg_attribute a
      where k.conrelid = c.oid and k.contype = 'p' and a.attrelid = c.oid and a.attnum = part.attnum
      order by part.place) as primary_key,
    array(select distinct r.relname::text from pg_constraint k join pg_class r on r.oid = k.confrelid
      where k.conrelid = c.oid and k.contype = 'f') as refers_to
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname <> all ($1)
  order by c.relname collate "C"`

/**
 * Puts each table behind those that it refers to.
 * @throws Error when that cannot be: tables in a circle, or one whose rows refer to each other. There is none today.
 */
export function orderByReference<Table extends Pick<BackupTable, 'name' | 'refers_to'>>(
  tables: readonly Table[],
): Table[] {
  const ordered: Table[] = []
  const waiting = [...tables]
  while (waiting.length > 0) {
    const next = waiting.findIndex((table) => !waiting.some((other) => table.refers_to.includes(other.name)))
    if (next === -1) {
      const names = waiting.map((table) => `\`${table.name}\``).join(', ')
      throw new Error(`the foreign keys of ${names} lead in a circle; a restore could not write one before the other`)
    }
    ordered.push(...waiting.splice(next, 1))
  }
  return ordered
}

/**
 * Takes the service role's limits off for this transaction, and fixes how values are written. A backup lasts as long as
 * it must; which limits there are depends on the server's version.
 */
export async function prepareLongTransaction(client: SingleConnection): Promise<void> {
  await client.query(`select set_config(name, '0', true) from pg_settings where name in
    ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`)
  await client.query(`select set_config('timezone', 'UTC', true), set_config('bytea_output', 'hex', true),
    set_config('extra_float_digits', '1', true), set_config('intervalstyle', 'iso_8601', true)`)
}

/** A statement as the role that looks across tenants. INVARIANT: what it is asked reads routing columns alone. */
export async function asWorkRole<Row extends Record<string, unknown>>(
  client: SingleConnection,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  await client.query('set local role sallyport_work')
  const { rows } = await client.query<Row>(text, values)
  await client.query('set local role none')
  return rows
}
