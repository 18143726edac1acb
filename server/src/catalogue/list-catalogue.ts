import { Type } from 'typebox'
import { Search, SeveralOf } from '../http/list-query.ts'
import { operation } from '../http/operation.ts'
import { OneOf, PageOf, pageQuery } from '../http/schema.ts'
import { askedTypes } from '../policy-engine/cedar/schema.ts'
import { CatalogueEntry } from './catalogue-entry.ts'
import { readCataloguePage } from './catalogue-page.flow.ts'

/** A page evaluates at most 500 questions; then it is short, and `next_cursor` goes on. */
export const listCatalogue = operation({
  method: 'GET',
  path: '/v1/catalogue',
  summary: 'List what you may request now: cached accounts by rank, then what else is known; a page may be short',
  credential: 'any',
  scope: 'requests:create',
  query: Type.Object(
    {
      ...pageQuery,
      q: Search('the resource’s name, its id, the action and its description'),
      type: Type.Optional(SeveralOf(askedTypes)),
      only: Type.Optional(
        OneOf(['favourites', 'recents'], {
          description: 'only your favourites, the oldest first; or only what you requested last, at most 20',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  replies: { 200: PageOf(CatalogueEntry) },
  errors: [],
  run: async (ctx, { query, page }) => page.reply(await readCataloguePage(ctx, query, page)),
})
