import { operation } from '../http/operation.ts'
import { requirePerson } from '../requests/evaluate-request.flow.ts'
import { userGone } from '../users/profile.ts'
import { Favourite, FavouriteInput, requireSoundFavourite } from './favourite.ts'
import { insertFavourite } from './favourite-store.ts'

/** The same pair again is the same favourite. Whether it is permitted makes no difference, and is not said. */
export const addFavourite = operation({
  method: 'POST',
  path: '/v1/users/me/favourites',
  summary: 'Add a favourite; you may have 100',
  credential: 'user',
  // Of no use to a thief, and confirming takes one of few connections.
  confirms: false,
  scope: null,
  body: FavouriteInput,
  replies: { 201: Favourite },
  errors: ['unprocessable'],
  async run(ctx, { body }) {
    requireSoundFavourite(body)
    const favourite = await insertFavourite(ctx.tx, requirePerson(ctx), body)
    if (favourite === undefined) throw userGone()
    return favourite
  },
})
