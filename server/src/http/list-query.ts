import { type TSchema, Type } from 'typebox'
import { cappedOrders } from '../db/capped-list.ts'
import { provisionerPattern, readUuid, userPattern } from '../kernel/id.ts'
import { maxCount } from '../kernel/page.ts'
import { DateTime, OneOf, pageQuery } from './schema.ts'

/** What lists have in common, and their counts, beside `pageQuery`. */

const maxValues = 10

/** A filter that takes several values, separated by commas: a row has one of them. */
export function SeveralOf<const Values extends readonly string[]>(values: Values) {
  return several<Values[number]>(OneOf(values))
}

/** Other ids and keys, of which a list has one or another. */
export function SeveralTexts(maxLength: number, of: string) {
  return several<string>(Type.String({ minLength: 1, maxLength }), `${of}; several are separated by commas`)
}

/** People: the ids of users, or `me`. */
export const SeveralUsers = several<string>(Type.String({ pattern: userPattern }), 'ids of users, or `me`')

/** Provisioners: their ids, or `sandbox`. */
export const SeveralProvisioners = several<string>(
  Type.String({ pattern: provisionerPattern }),
  'ids of provisioners, or `sandbox` where the tenant has none',
)

/** The ids of the users; `me` is the caller, or the user who made the calling key. */
export function readUsers(named: readonly string[], caller: string | null): string[] {
  return named.flatMap((name) => (name === 'me' ? (caller ?? []) : (readUuid(name) ?? [])))
}

/**
 * The users whose records the caller sees in a list; undefined: all. Without the scope that reads all users' records, only their own, if they
 * are named or nobody is. INVARIANT: what a list shows and what its count counts are both read by this.
 */
export function visibleUsers(
  { user_id, scopes }: { user_id: string | null; scopes: ReadonlySet<string> },
  named: readonly string[] | undefined,
  readScope: string,
): string[] | undefined {
  const asked = named === undefined ? undefined : [...new Set(readUsers(named, user_id))]
  if (scopes.has(readScope)) return asked
  return user_id !== null && (asked?.includes(user_id) ?? true) ? [user_id] : []
}

function several<Value extends string>(items: TSchema, description = 'several are separated by commas') {
  return Type.Unsafe<Value[]>({ type: 'array', items, minItems: 1, maxItems: maxValues, description })
}

/** When a record was created: a range of time. */
export const createdRange = {
  created_after: Type.Optional(Type.String({ ...DateTime, description: 'created at this moment or later' })),
  created_before: Type.Optional(Type.String({ ...DateTime, description: 'created before this moment' })),
}

/** A search. `among` says which texts have the words. */
export function Search(among: string) {
  return Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: `words, or beginnings of words, that ${among} all have; case and accents do not matter`,
    }),
  )
}

/** The orders of a list; `-` stands for the descending one. */
export function SortBy<const Orders extends readonly string[]>(orders: Orders, usual: Orders[number], more = '') {
  return Type.Optional(OneOf(orders, { description: `\`${usual}\` where absent; \`-\` is descending${more}` }))
}

/** The query of a list that `readCappedPage` reads. */
export const CappedListQuery = Type.Object(
  {
    ...pageQuery,
    enabled: Type.Optional(Type.Boolean()),
    q: Search('the name'),
    ...createdRange,
    sort: SortBy(cappedOrders, 'created_at'),
  },
  { additionalProperties: false },
)

/** The reply where the records of a list are counted. */
export const RecordCount = Type.Object(
  {
    count: Type.Integer({ minimum: 0, maximum: maxCount }),
    is_complete: Type.Boolean({
      description: `whether these are all: false where there are more than ${maxCount}, and where the reading ended early, as a page may`,
    }),
  },
  { title: 'RecordCount' },
)
