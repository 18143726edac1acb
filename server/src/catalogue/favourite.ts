import { type Static, Type } from 'typebox'
import { Body, DateTime, Nullable, Uuid } from '../http/schema.ts'
import { invalidInput, Problem } from '../kernel/errors.ts'
import { ResourceReference } from '../requests/request.ts'
import { RequestInput, requireSoundRequest } from '../requests/request-input.ts'

/** Favourites of one user, at most. */
export const maxFavourites = 100

/** What a user asks for again and again. It gives nothing, and may name what they may not have. */
export const Favourite = Type.Object(
  { id: Uuid, resource: ResourceReference, action: Type.String(), created_at: DateTime },
  { title: 'Favourite' },
)
export type Favourite = Static<typeof Favourite>

export const ListedFavourite = Type.Object(
  {
    ...Favourite.properties,
    permitted: Type.Boolean({
      description: 'whether you may request it now; `GET /v1/catalogue?only=favourites` says how',
    }),
    resource_name: Nullable(
      Type.String({
        description: 'as in the catalogue; null where none is known, or the favourite is not permitted',
      }),
    ),
    action_description: Nullable(
      Type.String({
        description: 'as in the catalogue; null where it is not described, or the favourite is not permitted',
      }),
    ),
  },
  { title: 'ListedFavourite' },
)
export type ListedFavourite = Static<typeof ListedFavourite>

/** A favourite, with what is shown of it only where it is permitted. */
export type KeptFavourite = Favourite & Pick<ListedFavourite, 'action_description'>

export const FavouriteInput = {
  ...Body({ resource: ResourceReference, action: RequestInput.properties.action }),
  description: 'what can be requested as it is: no permission set, whose accounts come with each request',
}
export type FavouriteInput = Static<typeof FavouriteInput>

/** @throws Problem 400 for what could never be in the catalogue */
export function requireSoundFavourite(input: FavouriteInput): void {
  requireSoundRequest(input)
  if (input.resource.type !== 'cloud_permission_set') return
  const why = 'names its accounts with each request; add an account, with the permission set’s name as the action'
  throw invalidInput([{ pointer: '/resource/type', why }])
}

export const tooManyFavourites = () =>
  new Problem('unprocessable', `you have ${maxFavourites} favourites, the most that a user may have: remove one`)
