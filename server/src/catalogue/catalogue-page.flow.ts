/** A page of what the caller may request now. */
import { listSetNames } from '../inventory/found-resource-store.ts'
import type { Ctx } from '../kernel/context.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import type { AskedType } from '../policy-engine/cedar/schema.ts'
import {
  askRulesOf,
  coversAnyAction,
  possibleActions,
  rulesAbout,
  withActions,
} from '../policy-engine/deciding/possible-requests.ts'
import { readWithRules } from '../policy-engine/deciding/rule-set-store.ts'
import { requirePerson } from '../requests/evaluate-request.flow.ts'
import { type Batch, favouriteCandidates, rankedCandidates, recentCandidates } from './candidates.flow.ts'
import type { CatalogueEntry, FoundEntry } from './catalogue-entry.ts'
import { type Marks, readMarks, readSnapshot } from './catalogue-store.ts'
import { evaluateCandidates, openBudget } from './evaluate-candidates.flow.ts'
import { searchFor } from './search.ts'
import { openSharedAnswers } from './shared-answers.ts'

export type CatalogueQuery = {
  q?: string | undefined
  type?: readonly AskedType[] | undefined
  only?: 'favourites' | 'recents' | undefined
}

/**
 * One page, in a few round trips between which no connection is held. A page that asked policy all that it may ends early. Further
 * pages are announced only where a further entry was found, or the page ended early.
 *
 * INVARIANT: `q` selects among what is permitted. What a page asks and where it ends early are the same with any `q`, so that neither
 * shows whether the name of a resource that the caller may not have has such a word.
 */
export async function readCataloguePage(
  ctx: Ctx,
  query: CatalogueQuery,
  page: PageRequest,
): Promise<PageRows<CatalogueEntry>> {
  const user_id = requirePerson(ctx)
  const search = searchFor(query.q)
  if (search === undefined) return { rows: [], next: undefined }
  const budget = openBudget()
  const answers = openSharedAnswers()
  const found: { entry: FoundEntry; key: readonly string[] }[] = []
  let reached: readonly string[] | undefined
  let isOver = true
  for await (const batch of candidatesFor(ctx, user_id, query, unpadded(page.after))) {
    const goesOn = await evaluateCandidates(ctx, user_id, onlyOfTypes(batch, query.type), {
      ...{ budget, answers, search },
      onAnswer(candidate, action, entry) {
        reached = candidate.keyOf(action)
        if (entry !== undefined && search.finds(entry)) found.push({ entry, key: reached })
        return found.length <= page.limit
      },
    })
    if (goesOn) reached = batch.end
    isOver = goesOn && batch.isLast !== true
    if (!isOver) break
  }
  const next = found.length > page.limit ? found[page.limit - 1]?.key : isOver ? undefined : reached
  const entries = found.slice(0, page.limit).map(({ entry }) => entry)
  const marks = await readMarks(ctx.tx, user_id, entries)
  const rows = entries.map((entry, index) => ({ ...entry, ...(marks[index] ?? unmarked) }))
  return { rows, next: next && padded(next) }
}

const unmarked: Marks = { action_description: null, live_grant_id: null, is_favourite: false }

async function* candidatesFor(
  { tx }: Ctx,
  user_id: string,
  { type: types, only }: CatalogueQuery,
  after: readonly string[],
): AsyncGenerator<Batch> {
  if (only === 'recents') return yield* recentCandidates(tx, user_id, after)
  if (only === 'favourites') return yield* favouriteCandidates(tx, user_id, after)
  const { ruleSet, principal } = await readWithRules(tx, () => readSnapshot(tx, user_id, [], []))
  const ask = askRulesOf(ruleSet)
  const about = rulesAbout(ask.rules, principal)
  // Whom no rule permits anything waits for no account of the cache.
  if (!about.some(({ effect }) => effect === 'permit')) return
  const sets = coversAnyAction(about) ? await listSetNames(tx) : []
  const actions = possibleActions(about, withActions(ask, sets))
  yield* rankedCandidates(tx, { types, about, possible: { actions, sets } }, after)
}

function onlyOfTypes(batch: Batch, types: readonly AskedType[] | undefined): Batch {
  if (types === undefined) return batch
  return { ...batch, candidates: batch.candidates.filter(({ resource }) => types.includes(resource.type)) }
}

const paddedTo = 256

/** The key of a page that ended early names what the caller may not have: its length must not show that. */
function padded(key: readonly string[]): string[] {
  const length = Buffer.byteLength(JSON.stringify(key))
  return [' '.repeat((paddedTo - (length % paddedTo)) % paddedTo), ...key]
}

function unpadded(after: readonly string[] | undefined): readonly string[] {
  return after?.slice(1) ?? []
}
