/** A page of the caller's favourites, with what policy says of each now. */
import type { Ctx } from '../kernel/context.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import { requirePerson } from '../requests/evaluate-request.flow.ts'
import type { FoundEntry } from './catalogue-entry.ts'
import { evaluateCandidates, openBudget } from './evaluate-candidates.flow.ts'
import type { KeptFavourite, ListedFavourite } from './favourite.ts'
import { listFavourites } from './favourite-store.ts'
import { openSharedAnswers } from './shared-answers.ts'

/** A page that asked policy all that it may ends early. */
export async function readFavouritesPage(ctx: Ctx, page: PageRequest): Promise<PageRows<ListedFavourite>> {
  const user_id = requirePerson(ctx)
  const favourites = await listFavourites(ctx.tx, user_id, page.after?.[0])
  const shown = favourites.slice(0, page.limit)
  // Who may make no requests may have none of them, whatever the rules say.
  if (!ctx.actor.scopes.has('requests:create')) {
    const next = shown.length < favourites.length ? shown.at(-1)?.id : undefined
    return { rows: shown.map((one) => listed(one, undefined)), next: next === undefined ? undefined : [next] }
  }
  const rows: ListedFavourite[] = []
  const candidates = shown.map((one) => ({ ...one, keyOf: () => [one.id] }))
  await evaluateCandidates(
    ctx,
    user_id,
    { candidates, end: [] },
    {
      budget: openBudget(),
      answers: openSharedAnswers(),
      onAnswer(_candidate, _action, entry) {
        const favourite = shown[rows.length]
        if (favourite !== undefined) rows.push(listed(favourite, entry))
        return true
      },
    },
  )
  const last = rows.at(-1)
  return { rows, next: last !== undefined && rows.length < favourites.length ? [last.id] : undefined }
}

/** Nothing but what the user wrote themselves is shown of what they may not have. */
function listed({ action_description, ...own }: KeptFavourite, entry: FoundEntry | undefined): ListedFavourite {
  const names = entry === undefined ? unnamed : { resource_name: entry.resource_name, action_description }
  return { ...own, permitted: entry !== undefined, ...names }
}

const unnamed = { resource_name: null, action_description: null }
