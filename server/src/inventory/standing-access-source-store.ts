import { sql, sqlInteger } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { Inventoried, StandingFilters } from './standing-access.ts'

/**
 * Where a page of standing access reads its rows, in order. It is stored as the target says it: a group once, whatever its members.
 * So a page reads assignments, or holders, in the order of one index, and beside each the members, or the access, in the order of another.
 */

/** `after`: the key of the last row of the page before; `most`: how many rows the page needs. */
export type Reading = {
  tx: Tx
  of: Inventoried
  filters: StandingFilters
  after: readonly string[] | undefined
  most: number
}

/**
 * `rows` has the columns `account_id`, `permission_set_id`, `holder_type`, `holder_id`, `group_id`, `entitlement_key`, `page_key` and `place`.
 * `last_read`: the beginning of the key of the last one that it may read, where it read as many.
 */
export type Source = { rows: Statement; last_read: Statement }

/**
 * Assignments, or holders, that a page reads to find those that pass, at most. All that a holder has is read to find what passes a filter,
 * so these are fewer.
 */
const maxRead = sqlInteger(1_000)
const maxFiltered = sqlInteger(100)

/** By the number of the account, the permission set and the holder. */
export function byAccount({ tx, of, filters, after, most }: Reading): Source {
  const { account_id } = filters
  const [account, set, type, principal, member = ''] = after ?? []
  const isFrom = set === undefined ? sql`true` : keysFrom(filters, sql`s.`, { account, set, type, principal })
  const read = sql`select s.* from standing_access s where ${ofProvisioner(tx, of, sql`s`)} and ${isFrom}
    ${account_id === undefined ? sql`` : sql`and s.account_id = ${account_id}`} ${ofSet(tx, of, filters, sql`s`)}
    order by s.account_id, s.permission_set_id, s.principal_type, s.principal_id`
  const isFirst =
    after === undefined
      ? sql`false`
      : sql`(s.account_id, s.permission_set_id, s.principal_type, s.principal_id)
        = (${account}::text, ${set}::text, ${type}::text, ${principal}::text)`
  const members = sql`select from inventory_group_member m where ${ofProvisioner(tx, of, sql`m`)}
    and m.group_id = s.principal_id`
  const order = sql`order by s.account_id, s.permission_set_id, s.principal_type, s.principal_id, b.member`
  const rows = sql`select s.account_id, s.permission_set_id, s.entitlement_key,
      case when s.principal_type = 'person' or b.member <> '' then 'person' else 'group' end as holder_type,
      case when b.member = '' then s.principal_id else b.member end as holder_id,
      case when b.member <> '' then s.principal_id end as group_id,
      array[s.account_id, s.permission_set_id, s.principal_type, s.principal_id, b.member] as page_key,
      (row_number() over (${order}))::integer as place
    from (select s.* from (${read} limit ${maxRead}) s where ${passesAsSet(tx, of, filters, sql`s`)}
        order by s.account_id, s.permission_set_id, s.principal_type, s.principal_id limit ${most + 1}) s
      cross join lateral (
        select '' as member where not ${isFirst} and (s.principal_type = 'person' or not exists (${members}))
        union all
        (select m.person_id from inventory_group_member m where ${ofProvisioner(tx, of, sql`m`)}
          and s.principal_type = 'group' and m.group_id = s.principal_id
          and m.person_id > case when ${isFirst} then ${member}::text else '' end
          order by m.person_id limit ${most})) b
    ${order} limit ${most}`
  return {
    rows,
    last_read: lastOf(read, maxRead, sql`l.account_id, l.permission_set_id, l.principal_type, l.principal_id`),
  }
}

type Keys = Record<'account' | 'set' | 'type' | 'principal', string | undefined>

/** Where one set is asked for, its index has no order by sets. */
function keysFrom(
  { permission_set }: StandingFilters,
  s: Statement,
  { account, set, type, principal }: Keys,
): Statement {
  if (permission_set !== undefined)
    return sql`(${s}account_id, ${s}principal_type, ${s}principal_id)
      >= (${account}::text, ${type}::text, ${principal}::text)`
  return sql`(${s}account_id, ${s}permission_set_id, ${s}principal_type, ${s}principal_id)
    >= (${account}::text, ${set}::text, ${type}::text, ${principal}::text)`
}

/** By the name of the holder; what each holds by account and permission set. A group is a holder where it has no members. */
export function byPerson({ tx, of, filters, after, most }: Reading): Source {
  const { person_id, account_id, permission_set, administrators } = filters
  const isFiltered = account_id !== undefined || permission_set !== undefined || administrators === true
  const maxHolders = isFiltered ? maxFiltered : maxRead
  const [name, type, id, account, set, group] = after ?? []
  const isFrom = (h: Statement, its: string) =>
    after === undefined
      ? sql`true`
      : sql`(${h}.name_key, ${its}::text, ${h}.id) >= (${name}::text, ${type}::text, ${id}::text)`
  const people = sql`select p.name_key, 'person' as type, p.id from inventory_person p
    where ${ofProvisioner(tx, of, sql`p`)} and ${isFrom(sql`p`, 'person')}
      ${person_id === undefined ? sql`` : sql`and p.id = ${person_id}`}
    order by p.name_key, p.id limit ${maxHolders}`
  const groups = sql`select g.name_key, 'group' as type, g.id from inventory_group g
    where ${ofProvisioner(tx, of, sql`g`)} and ${isFrom(sql`g`, 'group')} and (select true from inventory_group_member m
      where ${ofProvisioner(tx, of, sql`m`)} and m.group_id = g.id limit 1) is null
    order by g.name_key, g.id limit ${maxHolders}`
  const holders = person_id === undefined ? sql`(${people}) union all (${groups})` : people
  const read = sql`select h.* from (${holders}) h order by h.name_key, h.type, h.id`
  const isBehind =
    after === undefined
      ? sql`true`
      : sql`((h.name_key, h.type, h.id) > (${name}::text, ${type}::text, ${id}::text)
        or (b.account_id, b.permission_set_id, k.group_id) > (${account}::text, ${set}::text, ${group}::text))`
  const order = sql`order by h.name_key, h.type, h.id, b.account_id, b.permission_set_id, b.group_id`
  const rows = sql`select b.account_id, b.permission_set_id, b.entitlement_key, h.type as holder_type,
      h.id as holder_id, nullif(b.group_id, '') as group_id,
      array[h.name_key, h.type, h.id, b.account_id, b.permission_set_id, b.group_id] as page_key,
      (row_number() over (${order}))::integer as place
    from (${read} limit ${maxHolders}) h cross join lateral (
      select b.*, k.group_id from (
          select h.type, h.id, '' as group_id
          union all
          select 'group', m.group_id, m.group_id from inventory_group_member m
          where h.type = 'person' and ${ofProvisioner(tx, of, sql`m`)} and m.person_id = h.id) k
        cross join lateral (
          select s.account_id, s.permission_set_id, s.entitlement_key from standing_access s
          where ${ofProvisioner(tx, of, sql`s`)} and s.principal_type = k.type and s.principal_id = k.id
            ${account_id === undefined ? sql`` : sql`and s.account_id = ${account_id}`} offset 0) b
      where ${isBehind} ${ofSet(tx, of, filters, sql`b`)} and ${passesAsSet(tx, of, filters, sql`b`)}
      order by b.account_id, b.permission_set_id, k.group_id limit ${most}) b
    ${order} limit ${most}`
  return { rows, last_read: lastOf(read, maxHolders, sql`l.name_key, l.type, l.id`) }
}

function ofProvisioner(tx: Tx, { provisioner_id }: Inventoried, t: Statement): Statement {
  return sql`${t}.tenant_id = ${tx.tenant_id}::uuid and ${t}.provisioner_id = ${provisioner_id}::uuid`
}

function setsOf(tx: Tx, of: Inventoried): Statement {
  return sql`select c.id from inventory_resource c where ${ofProvisioner(tx, of, sql`c`)}
    and c.resource_type = 'cloud_permission_set'`
}

/**
 * The condition that an index answers. The id of a set that is not listed is asked for as it is. INVARIANT: what it is compared with is one
 * subselect; with a function around it, row-level security has it tested row by row.
 */
function ofSet(tx: Tx, of: Inventoried, { permission_set }: StandingFilters, s: Statement): Statement {
  if (permission_set === undefined) return sql``
  return sql`and ${s}.permission_set_id = (select coalesce(min(c.id), ${permission_set}::text) from inventory_resource c
    where ${ofProvisioner(tx, of, sql`c`)} and c.resource_type = 'cloud_permission_set' and c.name = ${permission_set})`
}

/** The condition that is tested. */
function passesAsSet(tx: Tx, of: Inventoried, { administrators }: StandingFilters, s: Statement): Statement {
  if (administrators !== true) return sql`true`
  return sql`${s}.permission_set_id = any(array(${setsOf(tx, of)} and c.facts @> '{"is_administrator": true}'))`
}

/** The key of the last row that may be read, from which the next page begins. */
function lastOf(read: Statement, max: Statement, key: Statement): Statement {
  return sql`(select array[${key}] from (${read}) l offset ${max} - 1 limit 1)`
}
