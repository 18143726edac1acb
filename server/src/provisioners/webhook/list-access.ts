import type { Tx } from '../../kernel/context.ts'
import { isObject } from '../../kernel/is-object.ts'
import { type Known, type Opening, type Sighting, TargetError } from '../driver.ts'
import type { Answer } from './answer.ts'
import { isEntitlementName } from './entitlement-name.ts'
import type { Receiver } from './receiver.ts'

/** A list that is longer never ends. */
const maxPages = 10_000

/**
 * What a receiver that lists holds, page by page: for each access the data of its last grant message, with the mark in it. A receiver that forgot
 * a mark lists access that is not provably ours.
 */
export async function* listAccess(
  receiver: Receiver,
  { opening, keyOf }: { opening: Opening; keyOf(entitlement: string, user_id: string): string },
  tx: Tx,
  known: readonly Known[],
  signal: AbortSignal,
): AsyncGenerator<Sighting[]> {
  const byKey = new Map(known.map((one) => [one.key, one]))
  let after: string | null = null
  for (let pages = 1; ; pages += 1) {
    const { tenant_id, provisioner_id } = opening
    const message = { type: 'access.list', data: { tenant_id, provisioner_id, after } }
    const { fields }: Answer = await receiver.withinLimit('gives', () => receiver.send(tx, message, signal))
    if (!Array.isArray(fields.access)) throw malformed('a list `access`')
    yield await Promise.all(fields.access.map((one) => sightingOf(one, byKey, opening, keyOf)))
    const next: unknown = fields.after ?? null
    if (next === null) return
    if (typeof next !== 'string' || next === after)
      throw malformed('another `after` for each page, and null for the last')
    if (pages === maxPages) throw new TargetError('permanent', `the receiver lists more than ${maxPages} pages`)
    after = next
  }
}

async function sightingOf(
  one: unknown,
  known: ReadonlyMap<string, Known>,
  { marks }: Opening,
  keyOf: (entitlement: string, user_id: string) => string,
): Promise<Sighting> {
  if (!isObject(one) || !isObject(one.user) || !isObject(one.resource)) throw malformed('each access with its data')
  const { mark, until: _until, callback: _callback, ...data } = one
  const [entitlement, user_id] = [data.entitlement, one.user.id]
  if (!isEntitlementName(entitlement) || !isEntitlementName(user_id)) throw malformed('each access with its data')
  const key = keyOf(entitlement, user_id)
  const before = known.get(key)
  if (before !== undefined && before.is_doubtful !== true) return before
  const access = { grant_id: String(data.first_grant_id), key }
  const origin = isObject(mark) ? ((await marks?.read(access, mark)) ?? null) : null
  return { key, target: before?.target ?? { ...data, key }, origin }
}

function malformed(what: string): TargetError {
  return new TargetError('transient', `the receiver answered \`access.list\` without ${what}`)
}
