import { setTimeout as pause } from 'node:timers/promises'
import type { Query } from '../kill/acknowledged.ts'
import type { Company } from '../kill/company.ts'
import type { Fault } from '../kill/consistency.ts'
import type { FieldTarget } from '../kill/field-target.ts'
import { ask } from '../kill/stories.ts'
import { until } from '../support/wait.ts'

/** Access whose end is known: its key at the target, and the moment, in milliseconds of the machine's clock. */
type TimedEnd = { key: string; endsAt: number }

/** The access of one company that ends around a fault, and when each was gone from its target. */
export type Watch = { company: Company; ends: readonly TimedEnd[]; gone: ReadonlyMap<string, number> }

/** Access is ended at the target so soon after its end, or after the database accepts writes again. */
export const maxLateSeconds = 25

/** Not one of the people of the stories: nobody else wants what these grants give. */
export function askerOf({ asking }: Company): Company['asking'][number] {
  return asking[2]
}

/** Has so much access given, and moves the ends to moments spread evenly over the next `seconds`, as if it had been requested earlier. */
export async function giveTimed(company: Company, count: number, seconds: number): Promise<Watch> {
  const { query, target } = company
  const request_ids: string[] = []
  while (request_ids.length < count) request_ids.push(await ask(askerOf(company), target.place('auto')))
  const ids = await until(
    'the access is given, and no process works on it',
    async () => {
      const rows = await query<{ id: string }>(
        `select g.id from access_grant g join entitlement e on e.tenant_id = g.tenant_id and e.id = g.entitlement_id
          where g.request_id = any ($1) and g.status = 'active' and e.observed = 'present' and e.act is null
            and e.lease_until is null`,
        [request_ids],
      )
      return rows.length === count && rows.map(({ id }) => id)
    },
    120_000,
  )
  const ends = await moveEnds(
    query,
    ids.map((id, index) => ({ id, seconds: 1 + (index * (seconds - 1)) / Math.max(1, count - 1) })),
  )
  const gone = new Map<string, number>()
  return { company, ends, gone: watch(target, ends, gone) }
}

async function moveEnds(query: Query, wanted: readonly { id: string; seconds: number }[]): Promise<TimedEnd[]> {
  const rows = await query<{ key: string; ends_at: number }>(
    `with wanted as (select * from unnest($1::uuid[], $2::float8[]) as w (id, seconds)),
      locked as materialized (
        select id from entitlement where id in (select entitlement_id from access_grant where id = any ($1))
        order by id for no key update),
      moved as (
        update access_grant g set expires_at = now() + w.seconds * interval '1 second', expiring_at = null,
          activated_at = now() + (w.seconds - g.duration_seconds) * interval '1 second'
        from wanted w, locked where g.id = w.id and g.entitlement_id = locked.id returning g.*)
      update entitlement e set next_look_at = moved.expires_at from moved where e.id = moved.entitlement_id
        returning e.target_key as key, extract(epoch from moved.expires_at)::float8 * 1000 as ends_at`,
    [wanted.map(({ id }) => id), wanted.map(({ seconds }) => seconds)],
  )
  return rows.map(({ key, ends_at }) => ({ key, endsAt: ends_at }))
}

/** Asks the target itself, again and again, until everything is gone; `findLate` sees what is not. */
function watch(target: FieldTarget, ends: readonly TimedEnd[], gone: Map<string, number>): Map<string, number> {
  const latest = Math.max(...ends.map(({ endsAt }) => endsAt))
  const go = async () => {
    // The limit is far beyond what is allowed: a watch ends also where the service never does its work.
    while (gone.size < ends.length && Date.now() < latest + 300_000) {
      const held = await target.holds().catch(() => undefined)
      const now = Date.now()
      if (held !== undefined) {
        const keys = new Set(held)
        for (const { key } of ends) if (!keys.has(key) && !gone.has(key)) gone.set(key, now)
      }
      await pause(100)
    }
  }
  void go()
  return gone
}

/** Waits until all of it is gone, and returns how many seconds late the latest was, and what was too early or too late. */
export async function findLate(
  watches: readonly Watch[],
  writesAgainAt: number,
): Promise<{ latestSeconds: number; faults: Fault[] }> {
  const all = watches.flatMap(({ ends, gone }) => ends.map((end) => ({ ...end, gone })))
  const lastDue = Math.max(writesAgainAt, ...all.map(({ endsAt }) => endsAt))
  const isAllGone = async () =>
    all.every(({ key, gone }) => gone.has(key)) || Date.now() > lastDue + 4_000 * maxLateSeconds
  await until('access is ended at the targets', isAllGone, 300_000)
  const faults: Fault[] = []
  let latestSeconds = Number.NEGATIVE_INFINITY
  for (const { key, endsAt, gone } of all) {
    const goneAt = gone.get(key)
    const lateSeconds = ((goneAt ?? Date.now()) - Math.max(endsAt, writesAgainAt)) / 1_000
    latestSeconds = Math.max(latestSeconds, lateSeconds)
    if (goneAt === undefined) faults.push({ kind: 'dangling', what: `access is held ${lateSeconds} s late: ${key}` })
    else if (lateSeconds > maxLateSeconds)
      faults.push({ kind: 'dangling', what: `access was ended ${lateSeconds} s late: ${key}` })
    else if (goneAt < endsAt)
      faults.push({ kind: 'lost', what: `access was gone ${(endsAt - goneAt) / 1_000} s early: ${key}` })
  }
  return { latestSeconds, faults }
}
