import { sql } from '../db/sql.ts'

/** One process of the service, as it makes itself known. */
export type PresentProcess = {
  id: string
  version: string
  commit: string | undefined
  public_url: string
  host: string
}

export type OtherProcess = Omit<PresentProcess, 'commit'> & { commit: string | null; started_at: string }

/** Says that the process is there. It is a write, so it fails where writes do. */
export function keepPresent({ id, version, commit, public_url, host }: PresentProcess) {
  return sql`insert into process (id, version, commit, public_url, host)
    values (${id}, ${version}, ${commit ?? null}, ${public_url}, ${host})
    on conflict (id) do update set seen_at = clock_timestamp()`
}

/** Old rows help to recognize a service that is stopped, for a week. */
export function forgetOldProcesses() {
  return sql`delete from process where seen_at < clock_timestamp() - interval '7 days'`
}

/** Says that the process is leaving, so that the others count it no longer. */
export function leave(id: string) {
  return sql`update process set seen_at = least(seen_at, clock_timestamp() - interval '30 seconds') where id = ${id}`
}

/** The address of the process that started last, of those that are there. */
export function servedUrl() {
  return sql<{ public_url: string }>`select public_url from process
    where seen_at > clock_timestamp() - interval '30 seconds' order by started_at desc, id desc limit 1`
}

/** The other processes that were there within the last half minute, the first one first. */
export function otherProcesses(id: string) {
  return sql<OtherProcess>`select id, version, commit, public_url, host, started_at from process
    where id <> ${id} and seen_at > clock_timestamp() - interval '30 seconds' order by started_at, id`
}
