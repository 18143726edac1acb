import { type ConnectionTarget, connectAlone, type SingleConnection } from './client/connect.ts'
import { appRole, ownerRole, workRole } from './roles.ts'

/** What a PostgreSQL server holds of Sallyport: its roles are those of the whole server. */
export type FoundOnServer = { roles: string[]; databases: FoundDatabase[] }

export type FoundDatabase = {
  name: string
  /** Undefined: it has none, or the reader may not see them. */
  migrations: { count: number; last: string } | undefined
  /** The processes that the database remembers, the last one first. Empty if the reader may not see them. */
  processes: FoundProcess[]
  /** The connections that are open now as a role of Sallyport. */
  connections: number
}

export type FoundProcess = {
  version: string
  commit: string | null
  public_url: string
  host: string
  /** How long ago it was last seen. */
  seen_seconds_ago: number
}

/** As many as a reader needs to recognize a service. */
const maxProcesses = 5

/**
 * Finds the roles of Sallyport on a server and, if there are any, each database that they may connect to or that has tables of
 * theirs. `on`: the same server, with another database.
 */
export async function findOnServer(
  admin: SingleConnection,
  on: (database: string) => ConnectionTarget,
): Promise<FoundOnServer> {
  const roles = await admin.query<{ name: string }>(
    'select rolname::text as name from pg_roles where rolname = any($1) order by rolname',
    [[ownerRole, appRole, workRole]],
  )
  if (roles.rows.length === 0) return { roles: [], databases: [] }
  const candidates = await admin.query<{ name: string; is_granted: boolean; may_read: boolean; connections: number }>(
    `select d.datname::text as name, has_database_privilege(d.oid, 'connect') as may_read,
        exists (select from aclexplode(d.datacl) as held join pg_roles r on r.oid = held.grantee
          where r.rolname = any($1) and held.privilege_type = 'CONNECT') as is_granted,
        (select count(*)::int from pg_stat_activity s where s.datid = d.oid and s.usename = any($1)) as connections
      from pg_database d where d.datallowconn and not d.datistemplate order by d.datname`,
    [[ownerRole, appRole]],
  )
  const databases: FoundDatabase[] = []
  for (const { name, is_granted, may_read, connections } of candidates.rows) {
    const inside = may_read ? await readInside(on(name)) : undefined
    if (is_granted || inside !== undefined) {
      databases.push({ name, migrations: inside?.migrations, processes: inside?.processes ?? [], connections })
    }
  }
  return { roles: roles.rows.map(({ name }) => name), databases }
}

type Inside = Pick<FoundDatabase, 'migrations' | 'processes'>

/** What a database says of its service; undefined if it has no tables of Sallyport, or does not let the reader in. */
async function readInside(target: ConnectionTarget): Promise<Inside | undefined> {
  const client = await connectAlone(target).catch(() => undefined)
  if (client === undefined) return undefined
  try {
    const { rows } = await client.query<{ name: string; may_read: boolean }>(
      `select c.relname::text as name, has_table_privilege(c.oid, 'select') as may_read
        from pg_class c join pg_roles r on r.oid = c.relowner
        where c.relnamespace = to_regnamespace('public') and c.relname in ('migration', 'process') and r.rolname = $1`,
      [ownerRole],
    )
    if (rows.length === 0) return undefined
    const mayRead = (table: string) => rows.some(({ name, may_read }) => name === table && may_read)
    return {
      migrations: mayRead('migration') ? await readMigrations(client) : undefined,
      processes: mayRead('process') ? await readProcesses(client) : [],
    }
  } finally {
    await client.end()
  }
}

async function readMigrations(client: SingleConnection): Promise<FoundDatabase['migrations']> {
  const { rows } = await client.query<{ count: number; last: string | null }>(
    'select count(*)::int as count, max(name) as last from public.migration',
  )
  const [found] = rows
  return found === undefined || found.last === null ? undefined : { count: found.count, last: found.last }
}

async function readProcesses(client: SingleConnection): Promise<FoundProcess[]> {
  const { rows } = await client.query<FoundProcess>(
    `select version, commit, public_url, host,
        greatest(0, extract(epoch from clock_timestamp() - seen_at))::int as seen_seconds_ago
      from public.process order by seen_at desc, id limit $1`,
    [maxProcesses],
  )
  return rows
}
