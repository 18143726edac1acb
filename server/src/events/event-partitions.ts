import { quartersAhead } from '../db/event-quarters.ts'
import { sql } from '../db/sql.ts'
import type { Statement } from '../kernel/context.ts'

/**
 * `quarters_ahead`: those after this one that have a partition, up to the first that has none. `outside`: the events that went into the default
 * partition.
 */
export type EventPartitions = { quarters_ahead: number; outside: number }

/** For monitoring: it reads the catalogue and the counters of PostgreSQL, and no event. */
export function eventPartitions(): Statement<EventPartitions> {
  return sql<EventPartitions>`select
      (select count(*)::int from (
          select bool_and(to_regclass('public.event_' || to_char(
            date_trunc('quarter', now() at time zone 'UTC') + make_interval(months => 3 * n), 'YYYY"_q"Q')) is not null)
            over (order by n) as is_there
          from generate_series(1, ${quartersAhead}::int) n) q where is_there) as quarters_ahead,
      coalesce(pg_stat_get_tuples_inserted('event_default'::regclass), 0)::float8 as outside`
}
