import { readListPage } from '../db/list-page.ts'
import { isoMoment, sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import { notFound } from '../kernel/errors.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import type { Config } from '../provisioners/driver.ts'
import type { DriverTypes } from '../provisioners/drivers.ts'
import type { ProvisionerType } from '../provisioners/provisioner.ts'
import { loginOf, type UserLookup } from '../provisioners/user-lookup.ts'
import { settingSeconds } from '../settings/setting-store.ts'
import { isActive } from '../users/active-store.ts'
import { type Inventory, mergeCounts, type PartCounts, type UnmatchedUser } from './inventory.ts'
import type { Inventoried } from './standing-access.ts'
import { isUnmatched } from './user-match-store.ts'

/** @throws Problem 404 */
export async function findInventoried(tx: Tx, id: string, types: DriverTypes): Promise<Inventoried> {
  const [found] = await tx.read(
    sql<{ provisioner: ProvisionerType; config: Config }>`select provisioner_type as provisioner, config
      from provisioner where tenant_id = ${tx.tenant_id} and id = ${id}`,
  )
  if (found === undefined) throw notFound('provisioner')
  const { provisioner, config } = found
  return { provisioner_id: id, provisioner, lookup: types[provisioner].userLookupOf?.(config) ?? null }
}

const maxUnmatched = 1_000
const maxLongSessions = 100

type View = Omit<Inventory, 'counts' | 'parts'> & { parts: (Inventory['parts'][number] & PartCounts)[] }

export async function readInventoryView(tx: Tx, { provisioner_id, lookup }: Inventoried): Promise<Inventory> {
  const longest = settingSeconds(tx, 'requests.max_duration_seconds')
  const isReading = sql`coalesce(p.lease_until > clock_timestamp(), false)`
  const unmatched =
    lookup === null
      ? sql`null::integer`
      : sql`case when exists (select from inventory_part p where p.tenant_id = ${tx.tenant_id}::uuid
          and p.provisioner_id = ${provisioner_id}::uuid and p.part = 'people' and p.finished_at is not null)
        then (select count(*)::integer from (select from tenant_user r where ${isAsked(tx)}
          and ${isUnmatched(tx, provisioner_id, sql`r`, lookup)} limit ${maxUnmatched}) unmatched) end`
  const [view] = await tx.read(sql<View>`select
      (select coalesce(jsonb_agg(jsonb_build_object('part', p.part, 'finished_at', ${isoMoment(sql`p.finished_at`)},
          'next_at', case when not ${isReading} then ${isoMoment(sql`p.next_look_at`)} end,
          'reading', ${isReading}, 'error', p.last_error, 'counts', p.counts) order by p.part), '[]')
        from inventory_part p where p.tenant_id = ${tx.tenant_id}::uuid and p.provisioner_id = ${provisioner_id}::uuid
      ) as parts,
      ${unmatched} as unmatched_users, ${longest} as longest_grant_seconds,
      (select coalesce(jsonb_agg(to_jsonb(long) order by long.name, long.id), '[]') from (
        select s.id, s.name, (s.facts -> 'session_seconds')::integer as session_seconds from inventory_resource s
        where s.tenant_id = ${tx.tenant_id}::uuid and s.provisioner_id = ${provisioner_id}::uuid
          and s.resource_type = 'cloud_permission_set' and (s.facts -> 'session_seconds')::bigint > ${longest}
        order by s.name, s.id limit ${maxLongSessions}) long) as long_sessions`)
  if (view === undefined) throw new Error('the database returned no inventory')
  const { parts, ...rest } = view
  return { parts: parts.map(({ counts: _counts, ...part }) => part), counts: mergeCounts(parts), ...rest }
}

/** The users `r` who may need to be found. People of a rehearsal have no access at a target. */
function isAsked(tx: Tx) {
  return sql`r.tenant_id = ${tx.tenant_id}::uuid and ${isActive(sql`r`)} and r.deleted_at is null
    and r.rehearsal is null`
}

/** The users whom the target would not find, in the order of creation; none before its people were read. */
export async function listUnmatchedUsersPage(
  tx: Tx,
  { provisioner_id, lookup }: Inventoried,
  page: PageRequest,
): Promise<PageRows<UnmatchedUser>> {
  if (lookup === null) return { rows: [], next: undefined }
  const wasRead = sql`(select true from inventory_part p where p.tenant_id = ${tx.tenant_id}::uuid
    and p.provisioner_id = ${provisioner_id}::uuid and p.part = 'people' and p.finished_at is not null) is not null`
  const { rows, next } = await readListPage<Omit<UnmatchedUser, 'looked_for' | 'why'>>(
    tx,
    {
      table: sql`tenant_user r`,
      columns: sql`r.id, r.name, r.email`,
      order: { by: sql`r.listed_at`, types: [sql`timestamptz`, sql`uuid`], descending: false },
      range: [sql`r.listed_at is not null`],
      filters: [{ column: sql`r.active`, type: sql`boolean`, values: ['true'] }],
      tested: [wasRead, isAsked(tx), isUnmatched(tx, provisioner_id, sql`r`, lookup)],
    },
    page,
  )
  return { rows: rows.map((user) => ({ ...user, ...lookedFor(user.email, lookup) })), next }
}

function lookedFor(email: string, lookup: UserLookup): Pick<UnmatchedUser, 'looked_for' | 'why'> {
  const login = loginOf(email, lookup)
  return login === undefined
    ? { looked_for: email, why: 'other_domain' }
    : { looked_for: login, why: 'not_in_directory' }
}
