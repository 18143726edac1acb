import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Star } from 'lucide-react'
import type { ReactNode } from 'react'
import { useAct } from '../parts/act.ts'
import { Button } from '../parts/button.tsx'
import { Problem } from '../parts/problem.tsx'
import { useWords } from '../words/words.ts'
import type { Choice } from './choice.ts'
import { addFavourite, favouritesQuery, removeFavourite } from './queries.ts'

type FavouriteToggleProps = { resource: Pick<Choice, 'type' | 'id'>; action: string }

/** Keeps a pair of resource and action at hand, or no longer. */
export function FavouriteToggle({ resource: { type, id }, action }: FavouriteToggleProps): ReactNode {
  const words = useWords().access
  const queries = useQueryClient()
  const { data } = useQuery(favouritesQuery)
  const act = useAct()
  if (data === undefined) return null
  const kept = data.data.find((one) => one.resource.type === type && one.resource.id === id && one.action === action)
  const toggle = () =>
    act.run(async () => {
      await (kept === undefined ? addFavourite({ resource: { type, id }, action }) : removeFavourite(kept.id))
      await queries.invalidateQueries({ queryKey: ['catalogue'] })
    })
  return (
    <>
      <Button look="quiet" isPending={act.isPending} onClick={toggle}>
        <Star
          size={16}
          strokeWidth={1.75}
          aria-hidden="true"
          className={kept === undefined ? 'fill-none' : 'fill-current'}
        />
        {kept === undefined ? words.favourite : words.unfavourite}
      </Button>
      {act.error !== undefined && <Problem error={act.error} />}
    </>
  )
}
