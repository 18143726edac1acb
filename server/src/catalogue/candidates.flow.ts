/** What may be listed, in the order of the list, in batches. Policy says later what is. */
import type { Tx } from '../kernel/context.ts'
import type { AskedType } from '../policy-engine/cedar/schema.ts'
import { type AskRule, namedResources, resourceOrder } from '../policy-engine/deciding/possible-requests.ts'
import type { ResourceReference } from '../requests/request.ts'
import { listRankedAccounts, listRecentPairs } from './catalogue-store.ts'
import { listFavourites } from './favourite-store.ts'

/** A resource that may be listed with some actions. */
export type Candidate = {
  resource: ResourceReference
  /** The only action. Undefined: all that the rules make possible, but only those after `after`. */
  action?: string
  after?: string | undefined
  /** It is listed only if the account cache does not have it: else it is another candidate. */
  isUncached?: true
  /** The key after which a page goes on behind this action, or behind all of the resource. */
  keyOf(action?: string): readonly string[]
}

/**
 * `end`: the key behind the batch. `isLast`: so much was read that the page ends here. `actions`: all that its candidates may have, where
 * they do not say it themselves.
 */
export type Batch = {
  candidates: readonly Candidate[]
  end: readonly string[]
  isLast?: boolean
  actions?: readonly string[]
}

/** What of the candidates is of interest. `about`: the rules about requests that can concern the caller; `actions`: what they make possible. */
export type Wanted = {
  types: readonly AskedType[] | undefined
  about: readonly AskRule[]
  actions: readonly string[]
}

/** Resources that are evaluated with one read: few at first, as most pages end there. */
const [firstBatch, furtherBatch] = [50, 225]
/** Entries of the cache read at once, and entries that one page reads. */
const [rowsAtOnce, maxRows] = [500, 5_000]

/** The accounts of the cache by their rank, then what the rules name. */
export async function* rankedCandidates(
  tx: Tx,
  wanted: Wanted,
  [part, ...after]: readonly string[],
): AsyncGenerator<Batch> {
  const isWanted = ({ type }: { type: AskedType }) => wanted.types?.includes(type) ?? true
  if (part !== 'named' && isWanted({ type: 'cloud_account' })) yield* cachedAccounts(tx, wanted, after)
  yield* namedCandidates(wanted, isWanted, part === 'named' ? after : [])
}

async function* cachedAccounts(tx: Tx, { actions }: Wanted, from: readonly string[]): AsyncGenerator<Batch> {
  // A page may begin behind some actions of an account.
  const [rank, name, id, action] = from
  let place = { after: [rank, name, id].flatMap((one) => one ?? []), isIncluded: action !== undefined }
  for (let read = 0; read < maxRows; ) {
    const rows = await listRankedAccounts(tx, place, rowsAtOnce)
    read += rows.length
    const candidates = rows
      .filter((row) => row.is_requestable)
      .map((row): Candidate => {
        const key = ['cached', row.rank, row.name, row.id]
        return {
          resource: { type: 'cloud_account', id: row.account_id },
          after: row.id === id ? action : undefined,
          keyOf: (last) => (last === undefined ? key : [...key, last]),
        }
      })
    const end = rows.at(-1)
    if (end === undefined) return
    place = { after: [end.rank, end.name, end.id], isIncluded: false }
    const isLast = rows.length === rowsAtOnce && read >= maxRows
    yield* inBatches(candidates, { end: ['cached', ...place.after], isLast, actions })
    if (rows.length < rowsAtOnce) return
  }
}

/** Resources that a permit for the caller names, and that are not in the cache. */
function* namedCandidates(
  { about, actions }: Wanted,
  isWanted: (resource: ResourceReference) => boolean,
  [type, id, action]: readonly string[],
): Generator<Batch> {
  const from = type === undefined || id === undefined ? '' : resourceOrder({ type: type as AskedType, id })
  const candidates = namedResources(about)
    .filter((resource) => isWanted(resource))
    .filter((resource) => (action === undefined ? resourceOrder(resource) > from : resourceOrder(resource) >= from))
    .map((resource): Candidate => {
      const key = ['named', resource.type, resource.id]
      return {
        resource,
        isUncached: true,
        after: resourceOrder(resource) === from ? action : undefined,
        keyOf: (last) => (last === undefined ? key : [...key, last]),
      }
    })
  const last = candidates.at(-1)
  if (last !== undefined) yield* inBatches(candidates, { end: last.keyOf(), actions })
}

function* inBatches(candidates: readonly Candidate[], last: Omit<Batch, 'candidates'>): Generator<Batch> {
  let [from, size] = [0, firstBatch]
  for (; from + size < candidates.length; [from, size] = [from + size, furtherBatch]) {
    const some = candidates.slice(from, from + size)
    yield { ...last, candidates: some, end: some.at(-1)?.keyOf() ?? last.end, isLast: false }
  }
  yield { candidates: candidates.slice(from), ...last }
}

/** What the caller requested last, the newest first. */
export async function* recentCandidates(tx: Tx, user_id: string, after: readonly string[]): AsyncGenerator<Batch> {
  const pairs = await listRecentPairs(tx, user_id)
  const behind = pairs.findIndex(({ id }) => id === after[0]) + 1
  const candidates = pairs
    .slice(behind)
    .map(({ id, resource, action }): Candidate => ({ resource, action, keyOf: () => [id] }))
  yield* inBatches(candidates, { end: [pairs.at(-1)?.id ?? ''] })
}

/** The caller's favourites, the oldest first. */
export async function* favouriteCandidates(tx: Tx, user_id: string, after: readonly string[]): AsyncGenerator<Batch> {
  const favourites = await listFavourites(tx, user_id, after[0])
  const candidates = favourites.map(({ id, resource, action }): Candidate => ({ resource, action, keyOf: () => [id] }))
  yield* inBatches(candidates, { end: [favourites.at(-1)?.id ?? ''] })
}
