import type { SingleConnection } from '../db/client/connect.ts'
import { restoreMarker } from '../db/migrate.ts'

/** A table of a backup, as the catalogue describes it. */
export type BackupTable = {
  name: string
  /** The column with the tenant's id; null: the table belongs to the service itself. */
  tenant_column: string | null
  /** The columns that are restored; the others get their default. */
  columns: BackupColumn[]
  primary_key: string[]
  /** The tables that its foreign keys refer to. */
  refers_to: string[]
}

/** `identity`: a sequence numbers it. */
export type BackupColumn = { name: string; type: string; not_null: boolean; identity: boolean }

/**
 * Tables that a new database fills itself: its migrations, the words of its records, and the places of the delivery of events, which a
 * restore translates. And what lets somebody in for a while, with the providers' tokens that ended sessions: a restore would bring back what ended since.
 * Failed sign-ins at no tenant count for minutes only, and the processes of the service are those of one place. The record of deleted tenants
 * is that of one installation, and only the owner of the tables writes it. The installation is in the header: a restore begins a new epoch of it.
 */
const leftOut = [
  'migration',
  'installation',
  'event_cursor',
  'event_queue',
  'deleted_tenant',
  'request_word',
  'user_session',
  'logout_token',
  'sign_in_challenge',
  'setup_link',
  'unknown_sign_in_failure',
  'process',
  'invitation',
  'invitation_mail',
  'notification_mail',
  'notification_mail_queue',
  'grant_word',
  'user_word',
  'group_word',
  'role_word',
  'cloud_account_word',
  'action_word',
  'policy_word',
  'api_key_word',
]

/**
 * Every other table of the database, each after the tables that it refers to. The list comes from the catalogue, so that a new
 * table is not forgotten. Three kinds of columns get their default: leases, which ended with their holders, transaction
 * numbers, which mean nothing on another server, and how far a server's clock was set back.
 */
export async function listBackupTables(client: SingleConnection): Promise<BackupTable[]> {
  const { rows } = await client.query<BackupTable>(tablesQuery, [[...leftOut, restoreMarker]])
  return orderByReference(rows)
}

/** Every table with rows of tenants, each after the tables that it refers to; also those that a backup leaves out. */
export async function listTenantTables(client: SingleConnection): Promise<BackupTable[]> {
  const { rows } = await client.query<BackupTable>(tablesQuery, [[]])
  return orderByReference(rows.filter(({ tenant_column }) => tenant_column !== null))
}

const tablesQuery = `
  select c.relname::text as name,
    (select a.attname::text from pg_attribute a
      where a.attrelid = c.oid
        and a.attname = case c.relname when 'tenant' then 'id' else 'tenant_id' end) as tenant_column,
    (select coalesce(jsonb_agg(jsonb_build_object('name', a.attname, 'type', format_type(a.atttypid, null),
          'not_null', a.attnotnull,
          'identity', pg_get_serial_sequence(quote_ident(c.relname), a.attname) is not null) order by a.attnum), '[]')
      from pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        and a.attname not in ('lease_until', 'clock_back_ms') and a.atttypid <> 'xid8'::regtype) as columns,
    array(select a.attname::text
      from pg_constraint k, unnest(k.conkey) with ordinality as part (attnum, place), pg_attribute a
      where k.conrelid = c.oid and k.contype = 'p' and a.attrelid = c.oid and a.attnum = part.attnum
      order by part.place) as primary_key,
    array(select distinct r.relname::text from pg_constraint k join pg_class r on r.oid = k.confrelid
      where k.conrelid = c.oid and k.contype = 'f' and k.conparentid = 0) as refers_to
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname <> all ($1)
  order by c.relname collate "C"`

/**
 * Puts each table after those that it refers to. Rows that refer to others of their own table come in any order: such keys are deferrable.
 * @throws Error if that is impossible: tables in a cycle. There is none today.
 */
export function orderByReference<Table extends Pick<BackupTable, 'name' | 'refers_to'>>(
  tables: readonly Table[],
): Table[] {
  const ordered: Table[] = []
  const waiting = [...tables]
  while (waiting.length > 0) {
    const next = waiting.findIndex(
      (table) => !waiting.some((other) => other !== table && table.refers_to.includes(other.name)),
    )
    if (next === -1) {
      const names = waiting.map((table) => `\`${table.name}\``).join(', ')
      throw new Error(`the foreign keys of ${names} form a cycle, so a restore cannot write one table before the other`)
    }
    ordered.push(...waiting.splice(next, 1))
  }
  return ordered
}

/**
 * Removes the service role's timeouts for this transaction, and fixes the format of values. A backup may take as long as it
 * needs. Which timeouts exist depends on the server's version.
 */
export async function prepareLongTransaction(client: SingleConnection): Promise<void> {
  await client.query(`select set_config(name, '0', true) from pg_settings where name in
    ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`)
  await client.query(`select set_config('timezone', 'UTC', true), set_config('bytea_output', 'hex', true),
    set_config('extra_float_digits', '1', true), set_config('intervalstyle', 'iso_8601', true)`)
}

/** Whether the database says which installation it is of: that of an earlier version does not. */
export const hasInstallation = (client: SingleConnection) => hasTable(client, 'installation')

export async function hasTable(client: SingleConnection, name: string): Promise<boolean> {
  const { rows } = await client.query<{ made: boolean }>(
    `select to_regclass('public.' || quote_ident($1)) is not null as made`,
    [name],
  )
  return rows[0]?.made ?? false
}

/** Runs a statement as the role that reads across tenants. INVARIANT: the statement reads only routing columns. */
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
