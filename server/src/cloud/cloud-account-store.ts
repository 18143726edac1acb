import { readListPage } from '../db/list-page.ts'
import { allOf, sql } from '../db/sql.ts'
import { emitWithFacts } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import { type AccountPolicyView, type CloudAccount, type CountedKind, policyViewOf } from './cloud-account.ts'
import { lockDiscovery } from './discovered-account-store.ts'

/** The maximum number of entries that an event names in each of its lists; it always states how many there were. */
const maxIdsShown = 100

/**
 * Writes the entries, each replacing the stored one with its id, and emits the event, in one atomic statement. Rows are
 * locked in the order of their ids, so that concurrent calls cannot deadlock. The event names apart the entries in which
 * something changed that rules may read: a call usually sends thousands and changes few. An account of the rehearsal that is written, or
 * one that an inventory found, becomes the tenant's own, and what an inventory found of the same account number gives way.
 * @returns how many were inserted or updated
 */
export async function saveCloudAccounts(ctx: WorkCtx, accounts: readonly CloudAccount[]): Promise<number> {
  const { tenant_id } = ctx.tx
  const ids = accounts.slice(0, maxIdsShown).map((account) => account.id)
  const event = {
    type: 'cloud_accounts.updated',
    subject_type: 'tenant',
    subject_id: tenant_id,
    data: { upserted: accounts.length, ids },
  } as const
  const [, [row]] = await ctx.tx.write([
    lockDiscovery(ctx.tx, 'hand'),
    sql<{ upserted: number }>`with entry as materialized (
        select * from jsonb_to_recordset(${JSON.stringify(accounts)}::jsonb)
          as entry (id text, name text, account_id text, metadata jsonb, rank integer)),
      written as (
        insert into cloud_account (tenant_id, id, name, account_id, metadata, rank)
        select ${tenant_id}::uuid, id, name, account_id, metadata, rank from entry
        order by id
        on conflict (tenant_id, id) do update set name = excluded.name, account_id = excluded.account_id,
          metadata = excluded.metadata, rank = excluded.rank, rehearsal = null, discovered_by = null,
          updated_at = clock_timestamp()
        returning id),
      superseded as (
        delete from cloud_account found using entry
        where found.tenant_id = ${tenant_id} and found.discovered_by is not null
          and found.account_id = entry.account_id and found.id <> all(array(select id from entry))),
      changed as (
        select entry.id, row_number() over (order by entry.id) as place
        from entry left join cloud_account was on was.tenant_id = ${tenant_id} and was.id = entry.id
        where (was.name, was.account_id, was.metadata, was.rank)
          is distinct from (entry.name, entry.account_id, entry.metadata, entry.rank)),
      told as (
        select jsonb_build_object('changed_count', count(*), 'changed',
            coalesce(jsonb_agg(id order by place) filter (where place <= ${maxIdsShown}), '[]')) as facts
        from changed having exists (select from written)),
      emitted as (${emitWithFacts(ctx, event, sql`told`)})
      select count(*)::integer as upserted from written`,
  ])
  return row?.upserted ?? 0
}

const shown = sql`id, name, account_id, metadata, rank`

/** One page by (rank, name, id). */
export function listCloudAccountsPage(tx: Tx, page: PageRequest): Promise<CloudAccount[]> {
  const conditions = [sql`tenant_id = ${tx.tenant_id}`]
  if (page.after !== undefined) {
    const [rank, name, id] = page.after
    conditions.push(sql`(rank, name, id) > (${rank}::integer, ${name}::text, ${id}::text)`)
  }
  return tx.read(sql<CloudAccount>`select ${shown} from cloud_account
    where ${allOf(conditions)} order by rank, name, id limit ${page.limit + 1}`)
}

/** One page of the accounts whose name, account number and id have these words, in the order of the found word. */
export function findCloudAccountsPage(tx: Tx, q: string, page: PageRequest): Promise<PageRows<CloudAccount>> {
  const [words, text] = [{ table: sql`cloud_account_word`, id: sql`entry_id` }, sql`text`]
  const order = { by: sql`r.id`, types: [text, text], descending: false } as const
  const search = { q, words, first: true }
  const list = { table: sql`cloud_account r`, columns: shown, order, range: [], filters: [], tested: [], search }
  return readListPage<CloudAccount>(tx, list, page)
}

/** An account as `accountsForPolicyAsJson` returns it. */
export type AccountForPolicy = Pick<CloudAccount, 'account_id' | 'name' | 'metadata'>

/**
 * The cached data of the accounts, as one value to embed in another statement; `readAccountsForPolicy` makes the views of
 * it. `account_ids` is an array of text, bound or computed. When several entries have one account number, the first in the
 * order of the list is used.
 */
export function accountsForPolicyAsJson(tx: Tx, account_ids: Statement): Statement {
  return sql`(select coalesce(jsonb_agg(jsonb_build_object(
      'account_id', account_id, 'name', name, 'metadata', metadata)), '[]')
    from (${speakingEntries(tx)} and account_id = any(${account_ids}::text[]) ${oneAnAccount}) as known)`
}

/** The name of the account, as policy sees it; null for an account that is not cached, or has no name. */
export function accountName(tx: Tx, account_id: Statement): Statement {
  return sql`(select nullif(name, '') from cloud_account
    where tenant_id = ${tx.tenant_id}::uuid and account_id = ${account_id} order by rank, name, id limit 1)`
}

/** The accounts that a message names, at most. */
const maxAccountsNamed = 3

/** The columns `accounts`, the first of them with their names, and `account_count` of an array of account numbers, for a message. */
export function namedAccountColumns(tx: Tx, account_ids: Statement): Statement {
  return sql`cardinality(${account_ids}) as account_count,
    (select coalesce(jsonb_agg(jsonb_build_object(
        'account_id', account_id, 'name', ${accountName(tx, sql`touched.account_id`)})), '[]')
      from unnest((${account_ids})[1:${maxAccountsNamed}::integer]) as touched (account_id)) as accounts`
}

function speakingEntries(tx: Tx): Statement {
  return sql`select distinct on (account_id) account_id, name, metadata, rank, id from cloud_account
    where tenant_id = ${tx.tenant_id}::uuid`
}

const oneAnAccount = sql`order by account_id, rank, name, id`

/** The views of the result of `accountsForPolicyAsJson`, by account number. */
export function readAccountsForPolicy(accounts: readonly AccountForPolicy[]): Map<string, AccountPolicyView> {
  return new Map(accounts.map((account) => [account.account_id, policyViewOf(account)]))
}

/** What rules can see of accounts: numbers, units, and the keys of tags. */
type Visible = { account_ids: readonly string[]; unit_ids: readonly string[]; tags: readonly string[] | 'all' }

/**
 * The kinds of cached account that rules can tell apart, at most `limit`, as one value to embed in another statement: of each
 * account its number, its units and its tags, as far as rules see them. Only accounts in which access can be given. It reads every
 * account of the tenant (3 ms for 1,000), unless rules see nothing of accounts.
 */
export function accountKindsAsJson(tx: Tx, { account_ids, unit_ids, tags }: Visible, limit: number): Statement {
  if (account_ids.length + unit_ids.length + tags.length === 0) return sql`'[]'::jsonb`
  return sql`(select coalesce(jsonb_agg(kinds.kind), '[]') from (
    select distinct ${seenOfKnown({ account_ids, unit_ids, tags })} as kind
    from (${speakingEntries(tx)} and account_id ~ '^[0-9]{12}$' ${oneAnAccount}) as known
    limit ${limit}) as kinds)`
}

/**
 * The same kinds with how many accounts each has, in the order in which the list of accounts names the first of each, and how many there
 * are in all: as one value. `names`: rules also tell accounts apart by their names. It reads every account of the tenant.
 */
export function countedKindsAsJson(
  tx: Tx,
  visible: Visible & { names: boolean },
  { kinds, named }: { kinds: number; named: number },
): Statement<{ total: number; kinds: CountedKind[] }> {
  return sql`(with seen as materialized (
      select ${seenOfKnown(visible)} as kind, case when ${visible.names} then known.name end as name,
        known.account_id, known.name as shown, row_number() over (order by known.rank, known.name, known.id) as place
      from (${speakingEntries(tx)} and account_id ~ '^[0-9]{12}$' ${oneAnAccount}) as known),
    counted as (select kind, name, count(*) as count, min(place) as place,
        (array_agg(jsonb_build_object('id', account_id, 'name', shown, 'place', place)
          order by place))[1:${named}::integer] as first
      from seen group by kind, name order by min(place) limit ${kinds})
    select jsonb_build_object('total', (select count(*) from seen), 'kinds', coalesce(jsonb_agg(jsonb_build_object(
        'kind', kind, 'name', name, 'count', count, 'first', to_jsonb(first)) order by place), '[]'))
    from counted)`
}

/** What rules see of the account in `known`, as one value. */
function seenOfKnown({ account_ids, unit_ids, tags }: Visible): Statement {
  const keys = keysRead(tags)
  const units = sql`known.metadata -> 'organizational_unit_ids'`
  return sql`jsonb_build_object(
      'account_id', case when known.account_id = any(${[...account_ids]}::text[]) then known.account_id end,
      'tags', ${whereAny(
        tags,
        sql`(select coalesce(jsonb_object_agg(key, known.metadata -> key), '{}') from ${keys} key
          where jsonb_typeof(known.metadata -> key) = 'string' and not starts_with(key, '__'))`,
        sql`'{}'::jsonb`,
      )},
      'organizational_unit_ids', ${whereAny(
        unit_ids,
        sql`(select coalesce(jsonb_agg(distinct unit), '[]')
          from jsonb_array_elements_text(case when jsonb_typeof(${units}) = 'array' then ${units} else '[]' end) unit
          where unit = any(${[...unit_ids]}::text[]))`,
        sql`'[]'::jsonb`,
      )})`
}

/** The keys of an account's tags that are read. Many are looked for among the account's own, few the other way round. */
function keysRead(tags: readonly string[] | 'all'): Statement {
  const own = sql`jsonb_object_keys(known.metadata)`
  if (tags === 'all') return own
  const few = sql`unnest(${[...tags]}::text[])`
  return tags.length <= fewKeys
    ? few
    : sql`(select own.key from ${own} own (key) where own.key = any(${[...tags]}::text[]))`
}

const fewKeys = 20

/** A subquery for each row costs more than all the rest: only where rules see something there. */
function whereAny(seen: readonly string[] | 'all', expression: Statement, otherwise: Statement): Statement {
  return seen.length === 0 ? otherwise : expression
}

/**
 * The account numbers that the cache places under the unit, in order; at most `limit`. Only numbers of 12 digits: access to
 * others cannot be granted.
 */
export async function listAccountIdsUnder(tx: Tx, unit_id: string, limit: number): Promise<string[]> {
  const rows = await tx.read(sql<{ account_id: string }>`select account_id
    from (${speakingEntries(tx)} and account_id ~ '^[0-9]{12}$' ${oneAnAccount}) as known
    where metadata -> 'organizational_unit_ids' ? ${unit_id}::text
    order by account_id limit ${limit}`)
  return rows.map((row) => row.account_id)
}

/** The same for each of these units, in one pass over the cache. A unit without accounts has no entry. */
export async function listAccountIdsUnderEach(
  tx: Tx,
  unit_ids: readonly string[],
  limit: number,
): Promise<Map<string, string[]>> {
  const rows = await tx.read(sql<{ unit_id: string; account_ids: string[] }>`with known as materialized (
      ${speakingEntries(tx)} and account_id ~ '^[0-9]{12}$' ${oneAnAccount})
    select unit.id as unit_id, array_agg(below.account_id order by below.account_id) as account_ids
    from unnest(${[...unit_ids]}::text[]) unit (id) cross join lateral (
      select account_id from known where metadata -> 'organizational_unit_ids' ? unit.id
      order by account_id limit ${limit}) below
    group by unit.id`)
  return new Map(rows.map(({ unit_id, account_ids }) => [unit_id, account_ids]))
}
