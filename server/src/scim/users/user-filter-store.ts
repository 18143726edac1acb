import { allOf, sql } from '../../db/sql.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { Statement } from '../../kernel/context.ts'
import { readUuid } from '../../kernel/id.ts'
import type { Filter, Leaf } from '../filter.ts'

/** Behind every text that begins alike. */
const last = '\u{10ffff}'

/**
 * The condition of a filter on `d`, a row of directory_user. Each comparison is answered from an index of the values: `eq`, `sw` and `pr`
 * read what they find; the others read the values of one attribute of one directory.
 */
export function userCondition(ctx: DirectoryCtx, filter: Filter): Statement {
  switch (filter.op) {
    case 'and':
      return sql`(${allOf(filter.filters.map((one) => userCondition(ctx, one)))})`
    case 'or':
      return anyOf(filter.filters.map((one) => userCondition(ctx, one)))
    case 'not':
      return sql`(${userCondition(ctx, filter.filter)}) is not true`
    case 'nothing':
      return sql`false`
    case 'of':
      return sql`d.user_id in (${usersWithElement(ctx, filter)})`
    default:
      return leafCondition(ctx, filter)
  }
}

function anyOf(conditions: readonly Statement[]): Statement {
  return conditions.reduce((all, next) => sql`(${all} or ${next})`)
}

function leafCondition(ctx: DirectoryCtx, leaf: Leaf): Statement {
  if (leaf.path === 'id') return idCondition(leaf)
  if (leaf.path === 'meta.created') return momentCondition(sql`d.created_at`, leaf)
  if (leaf.path === 'meta.lastModified') return momentCondition(sql`d.updated_at`, leaf)
  if (leaf.path.startsWith('meta.')) return sql`true`
  // Who has no value differs from every value.
  if (leaf.op === 'ne') return sql`not ${leafCondition(ctx, { ...leaf, op: 'eq' })}`
  return sql`d.user_id in (select v.user_id from ${valuesOf(ctx)} and ${valueCondition(sql`v`, leaf)})`
}

function valuesOf({ tx, identity_provider_id }: DirectoryCtx): Statement {
  return sql`directory_value v where v.tenant_id = ${tx.tenant_id}::uuid
    and v.identity_provider_id = ${identity_provider_id}::uuid`
}

/** The condition on a row of directory_value. */
function valueCondition(v: Statement, leaf: Leaf): Statement {
  const at = sql`${v}.path = ${leaf.path}`
  if (leaf.op === 'pr') return at
  const [key, value] = [sql`${v}.key`, leaf.value]
  switch (leaf.op) {
    case 'eq':
      return sql`${at} and ${key} = ${value}`
    case 'ne':
      return sql`${at} and ${key} <> ${value}`
    case 'sw':
      return sql`${at} and ${key} >= ${value} and ${key} < ${value + last}`
    case 'co':
      return sql`${at} and position(${value}::text in ${key}) > 0`
    case 'ew':
      return sql`${at} and right(${key}, char_length(${value}::text)) = ${value}`
    case 'gt':
      return sql`${at} and ${key} > ${value}`
    case 'ge':
      return sql`${at} and ${key} >= ${value}`
    case 'lt':
      return sql`${at} and ${key} < ${value}`
    case 'le':
      return sql`${at} and ${key} <= ${value}`
  }
}

/**
 * The users who have one value of a list for which the inner filter holds. Of conditions that all must hold, the most telling one chooses
 * the values, and the others are tested on each.
 */
function usersWithElement(ctx: DirectoryCtx, { attribute, filter }: Extract<Filter, { op: 'of' }>): Statement {
  const conditions = filter.op === 'and' ? filter.filters : [filter]
  const first = conditions.find((one) => one.op === 'eq') ?? conditions.find((one) => one.op === 'sw')
  const isFirst = first === undefined ? isPartOf(attribute) : valueCondition(sql`v`, first as Leaf)
  const others = conditions.filter((one) => one !== first).map((one) => elementCondition(ctx, one))
  return sql`select v.user_id from ${valuesOf(ctx)} and ${isFirst} and ${allOf(others)}`
}

function isPartOf(attribute: string): Statement {
  return sql`v.path >= ${`${attribute}.`} and v.path < ${`${attribute}.${last}`}`
}

/** The condition on the value of the list that `v` is a part of. */
function elementCondition(ctx: DirectoryCtx, filter: Filter): Statement {
  switch (filter.op) {
    case 'and':
      return sql`(${allOf(filter.filters.map((one) => elementCondition(ctx, one)))})`
    case 'or':
      return anyOf(filter.filters.map((one) => elementCondition(ctx, one)))
    case 'not':
      return sql`(${elementCondition(ctx, filter.filter)}) is not true`
    case 'of':
    case 'nothing':
      return sql`false`
    case 'ne':
      return sql`not ${elementCondition(ctx, { ...filter, op: 'eq' })}`
    default:
      return sql`exists (select from directory_value w where w.tenant_id = v.tenant_id and w.user_id = v.user_id
        and w.element = v.element and ${valueCondition(sql`w`, filter)})`
  }
}

/** Ids are uuids: compared as a whole, they are found by the key. */
export function idCondition(leaf: Leaf, column: Statement = sql`d.user_id`): Statement {
  if (leaf.op === 'pr') return sql`true`
  const id = readUuid(leaf.value) ?? null
  if (leaf.op === 'eq') return sql`coalesce(${column} = ${id}::uuid, false)`
  if (leaf.op === 'ne') return sql`coalesce(${column} <> ${id}::uuid, true)`
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
