import { sql } from '../db/sql.ts'
import type { Statement } from '../kernel/context.ts'

/** `quarters_ahead`: those after this one that have a partition. `outside`: the events that went into the default partition. */
export type EventPartitions = { quarters_ahead: number; outside: number }

/** For monitoring: it reads the catalogue and the counters of PostgreSQL, and no event. */
export function eventPartitions(): Statement<EventPartitions> {
  return sql<EventPartitions>`select
      (select count(*)::int from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'event'::regclass and c.relname <> 'event_default'
          and c.relname::text collate "C" > 'event_' || to_char(now() at time zone 'UTC', 'YYYY"_q"Q')
      ) as quarters_ahead,
      coalesce(pg_stat_get_tuples_inserted('event_default'::regclass), 0)::float8 as outside`
}
