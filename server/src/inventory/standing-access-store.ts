import { accountName } from '../cloud/cloud-account-store.ts'
import { askedWords, textHasEachWord } from '../db/list-page.ts'
import { inIndexOrder, sql } from '../db/sql.ts'
import { liveGrantGiving } from '../grants/live-grant-store.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { badCursor, type PageRequest, type PageRows } from '../kernel/page.ts'
import type { Inventoried, StandingAccess, StandingFilters } from './standing-access.ts'
import { byAccount, byPerson } from './standing-access-source-store.ts'
import { userOfPerson } from './user-match-store.ts'

/** Where words are searched: rows that are tested, at most. Then the page ends early, and says where the next one begins. */
const maxSearched = 600

/** Behind every id. */
const last = '\u{10ffff}'

type Row = StandingAccess & { page_key: string[]; passes: boolean; place: number }
type PageRead = { rows: Row[]; last_read: string[] | null }

/** One page, in one round trip. What one person holds is in the order of accounts. */
export async function listStandingAccessPage(
  tx: Tx,
  of: Inventoried,
  filters: StandingFilters,
  page: PageRequest,
): Promise<PageRows<StandingAccess>> {
  const isByPerson = filters.order === 'person' || filters.person_id !== undefined
  if (page.after !== undefined && page.after.length !== (isByPerson ? 6 : 5)) throw badCursor()
  const most = filters.q === undefined ? page.limit + 1 : maxSearched
  const source = (isByPerson ? byPerson : byAccount)({ tx, of, filters, after: page.after, most })
  const { q } = filters
  const passes =
    q === undefined
      ? sql`true`
      : textHasEachWord(sql`concat_ws(' ', n.account_id, n.account_name,
    n.permission_set_name, n.holder_name, n.login, n.group_name)`)
  const [found] = await tx.read(
    inIndexOrder(sql<PageRead>`${q === undefined ? sql`` : sql`with ${askedWords(q)}`}
      select coalesce(jsonb_agg(${rowAsJson(tx, of)} order by n.place), '[]') as rows,
        ${source.last_read} as last_read
      from (select n.*, ${passes} as passes from (${named(tx, of, source.rows)}) n) n
      where n.passes or n.place = ${most}`),
  )
  const { rows, last_read } = found ?? { rows: [], last_read: null }
  const passing = rows.filter((row) => row.passes)
  const more = passing.length > page.limit ? passing[page.limit - 1] : rows.find(({ place }) => place === most)
  const behindRead = last_read === null ? undefined : [...last_read, ...(isByPerson ? [last, '', ''] : [last])]
  const shown = passing.slice(0, page.limit).map(({ page_key: _key, passes: _passes, place: _place, ...row }) => row)
  return { rows: shown, next: more?.page_key ?? behindRead }
}

/** The rows with the names of what they refer to, each looked up by its key. */
function named(tx: Tx, { provisioner_id }: Inventoried, rows: Statement): Statement {
  const of = (table: Statement, id: Statement) => sql`select * from ${table} t where t.tenant_id = ${tx.tenant_id}::uuid
    and t.provisioner_id = ${provisioner_id}::uuid and t.id = ${id}`
  const resource = (type: string, id: Statement) => sql`left join lateral (${of(sql`inventory_resource`, id)}
    and t.resource_type = ${type} limit 1)`
  // In the order of the accounts' own index: by that of the inventory, each row would read all accounts.
  const cached = accountName(tx, sql`k.account_id collate "default"`)
  return sql`select k.*, coalesce(${cached}, a.name, k.account_id) as account_name,
      coalesce(s.name, k.permission_set_id) as permission_set_name, s.facts -> 'is_administrator' as is_administrator,
      coalesce(p.name, h.name, k.holder_id) as holder_name, p.login, p.login_key, p.external_id, g.name as group_name
    from (${rows}) k
      ${resource('cloud_account', sql`k.account_id`)} a on true
      ${resource('cloud_permission_set', sql`k.permission_set_id`)} s on true
      left join lateral (${of(sql`inventory_person`, sql`k.holder_id`)} limit 1) p on k.holder_type = 'person'
      left join lateral (${of(sql`inventory_group`, sql`k.holder_id`)} limit 1) h on k.holder_type = 'group'
      left join lateral (${of(sql`inventory_group`, sql`k.group_id`)} limit 1) g on k.group_id is not null`
}

function rowAsJson(tx: Tx, of: Inventoried): Statement {
  const named = (id: Statement, name: Statement) => sql`jsonb_build_object('id', ${id}, 'name', ${name})`
  return sql`jsonb_build_object(
    'account', ${named(sql`n.account_id`, sql`n.account_name`)},
    'permission_set', ${named(sql`n.permission_set_id`, sql`n.permission_set_name`)}
      || jsonb_build_object('is_administrator', n.is_administrator),
    'holder', ${named(sql`n.holder_id`, sql`n.holder_name`)}
      || jsonb_build_object('type', n.holder_type, 'login', n.login),
    'via_group', case when n.group_id is not null
      then ${named(sql`n.group_id`, sql`coalesce(n.group_name, n.group_id)`)} end,
    'user_id', ${userOfPerson(tx, sql`n`, of)},
    'grant_id', ${liveGrantGiving(tx, of.provisioner, sql`n.entitlement_key`)},
    'page_key', n.page_key, 'passes', n.passes, 'place', n.place)`
}
