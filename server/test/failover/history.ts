import type { Query } from '../kill/acknowledged.ts'
import type { Fault } from '../kill/consistency.ts'
import { until } from '../support/wait.ts'

/** What the services made of the history: a failover begins an epoch, and nothing is held back. */
type History = { epoch: number; timeline: string | null; read_only: boolean; contested: number; orphans: number }

/** Reads it. */
export async function readHistory(query: Query): Promise<History> {
  const [row] = await query<History>(`select epoch::float8 as epoch, timeline, read_only_since is not null as read_only,
      (select count(*)::int from target_claim where contested_at is not null)
        + (select count(*)::int from event where type = 'provisioner.contested') as contested,
      (select count(*)::int from event where type in ('provisioner.orphan_ending', 'provisioner.orphans_held_back'))
        as orphans
    from installation`)
  if (row === undefined) throw new Error('the table `installation` has no row')
  return row
}

/** Waits until the services have noticed the new timeline, and returns what is wrong with what they made of it. */
export async function findHistoryFaults(query: Query, before: History): Promise<Fault[]> {
  let now = before
  const isNoticed = async () => {
    now = await readHistory(query)
    return now.epoch > before.epoch && now.timeline !== before.timeline
  }
  const noticed = await until('the new timeline begins an epoch', isNoticed).catch(() => false)
  const wrong: [boolean, string][] = [
    [noticed !== true, `no epoch began on the timeline after ${before.timeline}`],
    [now.read_only, 'the services change nothing at targets until `npm run admin -- adopt`'],
    [now.contested > 0, 'another installation seems to act at a target'],
    // Access that was being given may be listed for a while. Nothing may come of it: nothing was lost.
    [now.orphans > before.orphans, `${now.orphans - before.orphans} orphans were ended or held back`],
  ]
  return wrong.filter(([isWrong]) => isWrong).map(([, what]): Fault => ({ kind: 'dangling', what }))
}
