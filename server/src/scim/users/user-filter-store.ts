import { allOf, sql } from '../../db/sql.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { Statement } from '../../kernel/context.ts'
import { readUuid } from '../../kernel/id.ts'
import type { Filter, Leaf } from '../filter.ts'

/** Behind every text that begins alike. */
const last = '\u{10ffff}'

/** The condition that `d`, a row of directory_user, is of the directory. */
export const isOfDirectory = ({ tx, identity_provider_id }: DirectoryCtx): Statement =>
  sql`d.tenant_id = ${tx.tenant_id}::uuid and d.identity_provider_id = ${identity_provider_id}::uuid`

/**
 * The condition that a filter finds `d`, a row of directory_user, and that it is of the directory.
 *
 * It holds whatever the database guesses of the tables: of a directory that has just been read in, it guesses that it is small, and would
 * compare each user with each. So the part of the filter that tells most finds users by the index of values, and they are looked up by
 * their key. What few of them are left is tested one by one; else each other part is a set, which is made once.
 */
export function userCondition(ctx: DirectoryCtx, filter: Filter): Statement {
  const parts = filter.op === 'and' ? partsOf(filter) : [filter]
  const lead = parts.filter(isFound).toSorted((one, other) => rankOf(one) - rankOf(other))[0]
  if (lead === undefined) return sql`${isOfDirectory(ctx)} and ${allOf(parts.map((one) => inSets(ctx, one)))}`
  const tells = rankOf(lead) <= ranks.some
  const others = parts.filter((one) => one !== lead).map((one) => (tells ? ofUser(ctx, one) : inSets(ctx, one)))
  // No index is asked for the provider: that of the key finds each user alone.
  return sql`d.tenant_id = ${ctx.tx.tenant_id}::uuid
    and (d.identity_provider_id = ${ctx.identity_provider_id}::uuid) is true
    and d.user_id in (${idsOf(ctx, lead)}) and ${allOf(others)}`
}

/** The parts of a filter that all must hold. */
function partsOf(filter: Filter): readonly Filter[] {
  return filter.op === 'and' ? filter.filters.flatMap(partsOf) : [filter]
}

type Of = Extract<Filter, { op: 'of' }>

/** A part that the index of values answers. Who differs from a value has perhaps none. */
const isFound = (filter: Filter): filter is Leaf | Of =>
  filter.op === 'of' || ('path' in filter && filter.op !== 'ne' && !isOfRow(filter))

/** What stands in the row of the user. */
const isOfRow = ({ path }: Leaf) => path === 'id' || path.startsWith('meta.')

/** How many users a part finds, by its form. */
const ranks = { one: 0, some: 1, many: 2, unknown: 3 } as const
/** Values that many have. */
const isCommon = (path: string) => path === 'active' || path.endsWith('.type') || path.endsWith('.primary')

function rankOf(filter: Filter): number {
  switch (filter.op) {
    case 'eq':
      return isCommon(filter.path) ? ranks.many : ranks.one
    case 'sw':
      return isCommon(filter.path) ? ranks.many : ranks.some
    case 'of':
      return Math.min(...partsOf(filter.filter).map(rankOf))
    case 'pr':
      return ranks.many
    default:
      return ranks.unknown
  }
}

/** The condition by sets of users, each made once. */
function inSets(ctx: DirectoryCtx, filter: Filter): Statement {
  return joined(filter, (one) => inSets(ctx, one)) ?? leafIn(ctx, filter as Leaf | Of)
}

function leafIn(ctx: DirectoryCtx, leaf: Leaf | Of): Statement {
  if ('path' in leaf && isOfRow(leaf)) return rowCondition(leaf)
  // Who has no value differs from every value.
  if (leaf.op === 'ne') return sql`not ${leafIn(ctx, { ...leaf, op: 'eq' })}`
  return sql`(d.user_id in (${idsOf(ctx, leaf)})) is true`
}

/** Keeps a test of one user from becoming a join, for which all values of that kind would be read. */
const oneByOne = sql`offset 0`

/** The condition on the values of the one user. */
function ofUser(ctx: DirectoryCtx, filter: Filter): Statement {
  return joined(filter, (one) => ofUser(ctx, one)) ?? leafOf(ctx, filter as Leaf | Of)
}

function leafOf(ctx: DirectoryCtx, leaf: Leaf | Of): Statement {
  if ('path' in leaf && isOfRow(leaf)) return rowCondition(leaf)
  if (leaf.op === 'ne') return sql`not ${leafOf(ctx, { ...leaf, op: 'eq' })}`
  const condition =
    leaf.op === 'of'
      ? sql`${isPartOf(leaf.attribute)} and ${elementCondition(leaf.filter)}`
      : valueCondition(sql`v`, leaf)
  return sql`exists (select from directory_value v
    where v.tenant_id = ${ctx.tx.tenant_id}::uuid and v.user_id = d.user_id and ${condition} ${oneByOne})`
}

/** The parts of a filter joined; undefined for one that has no parts. */
export function joined(filter: Filter, conditionOf: (part: Filter) => Statement): Statement | undefined {
  switch (filter.op) {
    case 'and':
      return sql`(${allOf(filter.filters.map(conditionOf))})`
    case 'or':
      return filter.filters.map(conditionOf).reduce((all, next) => sql`(${all} or ${next})`)
    case 'not':
      return sql`(${conditionOf(filter.filter)}) is not true`
    case 'nothing':
      return sql`false`
    default:
      return undefined
  }
}

function rowCondition(leaf: Leaf): Statement {
  if (leaf.path === 'id') return idCondition(leaf)
  if (leaf.path === 'meta.created') return momentCondition(sql`d.created_at`, leaf)
  if (leaf.path === 'meta.lastModified') return momentCondition(sql`d.updated_at`, leaf)
  return sql`true`
}

function valuesOf({ tx, identity_provider_id }: DirectoryCtx): Statement {
  return sql`directory_value v where v.tenant_id = ${tx.tenant_id}::uuid
    and v.identity_provider_id = ${identity_provider_id}::uuid`
}

/** The users of the directory whom a part finds. */
function idsOf(ctx: DirectoryCtx, part: Leaf | Of): Statement {
  if (part.op === 'of') return usersWithElement(ctx, part)
  return sql`select v.user_id from ${valuesOf(ctx)} and ${valueCondition(sql`v`, part)}`
}

/** The condition on a row of directory_value. */
function valueCondition(v: Statement, leaf: Leaf): Statement {
  const at = sql`${v}.path = ${leaf.path}`
  return leaf.op === 'pr' ? at : sql`${at} and ${textCondition(sql`${v}.key`, leaf)}`
}

/**
 * The users who have one value of a list for which the inner filter holds. The condition that tells most chooses values, and the others are
 * tested on each; where none tells much, all values of the list are read once.
 */
function usersWithElement(ctx: DirectoryCtx, { attribute, filter }: Of): Statement {
  const conditions = partsOf(filter)
  const lead = conditions.toSorted((one, other) => rankOf(one) - rankOf(other))[0]
  if (lead !== undefined && (lead.op === 'eq' || lead.op === 'sw') && rankOf(lead) <= ranks.some) {
    const others = conditions.filter((one) => one !== lead).map(elementCondition)
    return sql`select v.user_id from ${valuesOf(ctx)} and ${valueCondition(sql`v`, lead)} and ${allOf(others)}`
  }
  return sql`select v.user_id from ${valuesOf(ctx)} and ${isPartOf(attribute)}
    group by v.user_id, v.element having ${partsCondition(filter)}`
}

function isPartOf(attribute: string): Statement {
  return sql`v.path >= ${`${attribute}.`} and v.path < ${`${attribute}.${last}`}`
}

/** The condition on the parts `v` of one value of a list, together. */
function partsCondition(filter: Filter): Statement {
  const whole = joined(filter, partsCondition)
  if (whole !== undefined) return whole
  const leaf = filter as Leaf
  if (leaf.op === 'ne') return sql`not ${partsCondition({ ...leaf, op: 'eq' })}`
  return sql`bool_or(${valueCondition(sql`v`, leaf)})`
}

/** The condition on the value of the list that `v` is a part of. */
function elementCondition(filter: Filter): Statement {
  const whole = joined(filter, elementCondition)
  if (whole !== undefined) return whole
  const leaf = filter as Leaf
  if (leaf.op === 'ne') return sql`not ${elementCondition({ ...leaf, op: 'eq' })}`
  return sql`exists (select from directory_value w where w.tenant_id = v.tenant_id and w.user_id = v.user_id
    and w.element = v.element and ${valueCondition(sql`w`, leaf)} ${oneByOne})`
}

/** Ids are uuids: compared as a whole, they are found by the key. */
export function idCondition(leaf: Leaf, column: Statement = sql`d.user_id`): Statement {
  if (leaf.op === 'pr') return sql`true`
  const id = readUuid(leaf.value)
  if (leaf.op === 'eq') return id === undefined ? sql`false` : sql`${column} = ${id}::uuid`
  if (leaf.op === 'ne') return id === undefined ? sql`true` : sql`${column} <> ${id}::uuid`
  return textCondition(sql`${column}::text`, leaf)
}

/** The condition on a column that has a text, as values have it. */
export function textCondition(text: Statement, leaf: Exclude<Leaf, { op: 'pr' }>): Statement {
  const { op, value } = leaf
  if (op === 'co') return sql`position(${value}::text in ${text}) > 0`
  if (op === 'ew') return sql`right(${text}, char_length(${value}::text)) = ${value}`
  if (op === 'sw') return sql`(${text} >= ${value} and ${text} < ${value + last})`
  return sql`${text} ${operators[op]} ${value}`
}

export function momentCondition(column: Statement, leaf: Leaf): Statement {
  if (leaf.op === 'pr') return sql`true`
  if (leaf.op === 'co' || leaf.op === 'sw' || leaf.op === 'ew') return sql`false`
  // Answers show milliseconds.
  return sql`date_trunc('milliseconds', ${column}) ${operators[leaf.op]} ${leaf.value}::timestamptz`
}

const operators = {
  eq: sql`=`,
  ne: sql`<>`,
  gt: sql`>`,
  ge: sql`>=`,
  lt: sql`<`,
  le: sql`<=`,
} as const
