import { type ConnectionTarget, connectAlone } from './client/connect.ts'
import { sql } from './sql.ts'
import type { UnrestrictedTx } from './transaction.ts'

/**
 * A table is analyzed again when it has so many times the pages or the rows that PostgreSQL last counted: `due`. Those that have grown by `beside`
 * are analyzed with it, because each time makes all connections plan again.
 */
const growth = { due: 8, beside: 2 }

/**
 * In pages of 8 kB. A smaller table costs little to scan; a larger one was analyzed before, and autovacuum follows its growth. Fewer rows come and
 * go in a table of what waits, between two reports of how many there are.
 */
const watched = { min: 8, max: 4_000, rows: 100 }

/** `quoted`: its name as part of a statement. `times`: how many times the pages or the rows that PostgreSQL last counted it has. */
type GrownTable = { name: string; quoted: string; times: number }

/**
 * Analyzes the tables that have outgrown what PostgreSQL knows of them, and returns their names. A connection keeps the plan of a statement
 * until a table of it is analyzed. A plan that was made while the tables were empty would read all rows of a tenant, and autovacuum
 * comes by once a minute. `reading`: any role. `owner`: the role that may analyze.
 */
export async function analyzeGrown(reading: UnrestrictedTx, owner: ConnectionTarget): Promise<string[]> {
  const grown = await reading.read(sql<GrownTable>`select distinct on (t.name) t.* from (
      -- Of a partition, the table: that is what plans are made for, and no one else analyzes it.
      select whole.relname::text as name, format('%I.%I', 'public', whole.relname) as quoted,
        greatest(sized.pages / greatest(part.relpages, 1),
          -- Rows of a transaction that was under way at the last count have pages, and were not counted.
          pg_stat_get_live_tuples(part.oid) / greatest(part.reltuples, ${watched.rows})) as times
      from pg_class part left join pg_inherits i on i.inhrelid = part.oid
        join pg_class whole on whole.oid = coalesce(i.inhparent, part.oid)
        cross join lateral (
          select pg_relation_size(part.oid)::float8 / current_setting('block_size')::integer as pages) sized
      where part.relnamespace = 'public'::regnamespace and part.relkind = 'r'
        and part.relowner = (select relowner from pg_class where oid = 'public.tenant'::regclass)
        and sized.pages between ${watched.min} and ${watched.max} offset 0) t
    where t.times >= ${growth.beside} order by t.name, t.times desc`)
  if (!grown.some(({ times }) => times >= growth.due)) return []
  const client = await connectAlone(owner)
  try {
    // A table of many partitions takes a processor for a second: it pauses meanwhile, as autovacuum does.
    await client.query(`set lock_timeout = '1s'; set vacuum_cost_delay = '10ms'`)
    const failures: unknown[] = []
    for (const { quoted } of grown) await client.query(`analyze ${quoted}`).catch((error) => failures.push(error))
    if (failures.length > 0) throw new AggregateError(failures, 'a table could not be analyzed')
  } finally {
    await client.end()
  }
  return grown.map(({ name }) => name)
}
