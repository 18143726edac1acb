import { newId } from '../../src/kernel/id.ts'
import { inParts } from './in-parts.ts'

type Query = (text: string, values?: unknown[]) => Promise<unknown>

/** A tenant with `count` events of a year, in transactions of their own years ago. */
export type ManyEvents = { tenant_id: string; actors: readonly string[] }

/**
 * Inserts the tenant. The first actor did half of it, and the last one only the oldest; types are common, rare, or only old. `at` goes
 * back by some seconds now and then, as with a clock that is set.
 */
export async function seedManyEvents(query: Query, count: number): Promise<ManyEvents> {
  const tenant_id = newId()
  const actors = Array.from({ length: 10 }, () => newId())
  await query(`insert into tenant (id, name) values ($1, 'many events')`, [tenant_id])
  await inParts(count, (from, until) =>
    query(
      `insert into event (tenant_id, id, xid, type, at, actor_kind, actor_id, subject_type, subject_id, request_id)
      select $1::uuid, gen_random_uuid(), (3 + n / 10)::text::xid8,
        case when n < 100 then 'role.created' when n % 2000 = 3 then 'policy.created'
          when n % 7 = 0 then 'grant.activated' else 'request.created' end,
        '2024-01-01'::timestamptz + make_interval(secs => n * 300 - case when n % 50 = 0 then 330 else 0 end),
        'user', ($2::uuid[])[case when n < 300 then 10 when n % 2 = 0 then 1 else 2 + n % 7 end],
        'request', 'subject-' || case when n % 3 = 0 then 0 else n % 5000 end, 'test'
      from generate_series($3::integer, $4::integer) n`,
      [tenant_id, actors, from, until],
    ),
  )
  return { tenant_id, actors }
}
