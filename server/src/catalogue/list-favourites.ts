import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { ListedFavourite } from './favourite.ts'
import { readFavouritesPage } from './favourites-page.flow.ts'

export const listFavourites = operation({
  method: 'GET',
  path: '/v1/users/me/favourites',
  summary: 'List your favourites, and whether you may request them now',
  credential: 'user',
  scope: null,
  query: Type.Object(pageQuery, { additionalProperties: false }),
  replies: { 200: PageOf(ListedFavourite) },
  errors: [],
  run: async (ctx, { page }) => page.reply(await readFavouritesPage(ctx, page)),
})
