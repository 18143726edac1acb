/** What may be listed, in the order of the list, in batches. Policy says later what is. */
import { listFoundIds } from '../inventory/found-resource-store.ts'
import type { Tx } from '../kernel/context.ts'
import { findIdFault } from '../policy-engine/cedar/reference-faults.ts'
import type { AskedType } from '../policy-engine/cedar/schema.ts'
import {
  type AskRule,
  coversUnnamed,
  namedResources,
  resourceOrder,
} from '../policy-engine/deciding/possible-requests.ts'
import type { ResourceReference } from '../requests/request.ts'
import { foundTypes, listRankedAccounts, listRecentPairs } from './catalogue-store.ts'
import { listFavourites } from './favourite-store.ts'

type FoundType = (typeof foundTypes)[number]

/** A resource that may be listed with some actions. */
export type Candidate = {
  resource: ResourceReference
  /** The only action. Undefined: all that the rules make possible, but only those after `after`. */
  action?: string
  after?: string | undefined
  /** It is not listed if the account cache, or an inventory, has it: then it is another candidate already. */
  unlessIn?: 'cache' | 'inventory' | undefined
  /** The key after which a page goes on behind this action, or behind all of the resource. */
  keyOf(action?: string): readonly string[]
}

/** `actions`: all that may be requested. `sets`: names of permission sets, which are actions although no rule may name them. */
export type Possible = { actions: readonly string[]; sets: readonly string[] }

/**
 * `end`: the key behind the batch. `isLast`: so much was read that the page ends here. `possible`: what its candidates may have, where they
 * do not say it themselves.
 */
export type Batch = {
  candidates: readonly Candidate[]
  end: readonly string[]
  isLast?: boolean
  possible?: Possible
}

/** What of the candidates is of interest. `about`: the rules about requests that can concern the caller; `possible`: what they make possible. */
export type Wanted = {
  types: readonly AskedType[] | undefined
  about: readonly AskRule[]
  possible: Possible
}

/** Resources that are evaluated with one read: few at first, as most pages end there. */
const [firstBatch, furtherBatch] = [50, 225]
/** Entries of the cache read at once, and entries that one page reads. */
const [rowsAtOnce, maxRows] = [500, 5_000]
/** The same of what inventories found. What is under units takes a pass over the cache for each read. */
const foundRows = {
  cloud_db_instance: { atOnce: rowsAtOnce, most: maxRows },
  cloud_organizational_unit: { atOnce: 25, most: 100 },
} as const

/** The accounts of the cache by their rank, then the databases and units that inventories found, then what else the rules name. */
export async function* rankedCandidates(
  tx: Tx,
  wanted: Wanted,
  [part, ...after]: readonly string[],
): AsyncGenerator<Batch> {
  const isWanted = ({ type }: { type: AskedType }) => wanted.types?.includes(type) ?? true
  const isBefore = part === undefined || part === 'cached'
  if (isBefore && isWanted({ type: 'cloud_account' })) yield* cachedAccounts(tx, wanted, after)
  const found = part === 'found' ? after : []
  if (part !== 'named') {
    for (const type of foundTypes)
      if (!isBehind(type, found[0]) && isWanted({ type }) && isFound(type, wanted))
        yield* foundResources(tx, type, wanted, type === found[0] ? found : [])
  }
  yield* namedCandidates(wanted, isWanted, part === 'named' ? after : [])
}

async function* cachedAccounts(tx: Tx, { possible }: Wanted, from: readonly string[]): AsyncGenerator<Batch> {
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
    yield* inBatches(candidates, { end: ['cached', ...place.after], isLast, possible })
    if (rows.length < rowsAtOnce) return
  }
}

/** Whether what inventories found of the type are candidates: rules that name their resources tell where to look themselves. */
function isFound(type: AskedType, { about }: Wanted): type is FoundType {
  return foundTypes.some((one) => one === type) && coversUnnamed(about, type)
}

/** Whether a page that goes on at `from` is past this type. They are in the order of their names. */
const isBehind = (type: FoundType, from: string | undefined) => from !== undefined && type < from

async function* foundResources(
  tx: Tx,
  type: FoundType,
  { possible }: Wanted,
  [, from = '', action]: readonly string[],
): AsyncGenerator<Batch> {
  const { atOnce, most } = foundRows[type]
  let place = { id: from, isIncluded: action !== undefined }
  for (let read = 0; read < most; ) {
    const rows = await listFoundIds(tx, type, place, atOnce)
    read += rows.length
    const last = rows.at(-1)
    if (last === undefined) return
    // Several inventories may have found one resource, and a target may say what no request can name.
    const ids = [...new Set(rows)].filter((id) => findIdFault({ type, id }) === undefined)
    const candidates = ids.map((id): Candidate => {
      const key = ['found', type, id]
      return {
        resource: { type, id },
        after: id === from ? action : undefined,
        keyOf: (end) => (end === undefined ? key : [...key, end]),
      }
    })
    place = { id: last, isIncluded: false }
    yield* inBatches(candidates, {
      end: ['found', type, last],
      isLast: rows.length === atOnce && read >= most,
      possible,
    })
    if (rows.length < atOnce) return
  }
}

/** Resources that a permit for the caller names, and that are no candidates yet. */
function* namedCandidates(
  wanted: Wanted,
  isWanted: (resource: ResourceReference) => boolean,
  [type, id, action]: readonly string[],
): Generator<Batch> {
  const from = type === undefined || id === undefined ? '' : resourceOrder({ type: type as AskedType, id })
  const candidates = namedResources(wanted.about)
    .filter((resource) => isWanted(resource))
    .filter((resource) => (action === undefined ? resourceOrder(resource) > from : resourceOrder(resource) >= from))
    .map((resource): Candidate => {
      const key = ['named', resource.type, resource.id]
      return {
        resource,
        unlessIn:
          resource.type === 'cloud_account' ? 'cache' : isFound(resource.type, wanted) ? 'inventory' : undefined,
        after: resourceOrder(resource) === from ? action : undefined,
        keyOf: (last) => (last === undefined ? key : [...key, last]),
      }
    })
  const last = candidates.at(-1)
  if (last !== undefined) yield* inBatches(candidates, { end: last.keyOf(), possible: wanted.possible })
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
