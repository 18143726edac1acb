import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Star } from 'lucide-react'
import { type ReactNode, useState } from 'react'
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
  const [error, setError] = useState<Error>()
  const [isPending, setPending] = useState(false)
  if (data === undefined) return null
  const kept = data.data.find((one) => one.resource.type === type && one.resource.id === id && one.action === action)
  const toggle = async () => {
    setPending(true)
    setError(undefined)
    const change = kept === undefined ? addFavourite({ resource: { type, id }, action }) : removeFavourite(kept.id)
    await change.catch((thrown: unknown) => setError(thrown as Error))
    await queries.invalidateQueries({ queryKey: ['catalogue'] })
    setPending(false)
  }
  return (
    <>
      <Button look="quiet" isPending={isPending} onClick={toggle}>
        <Star
          size={16}
          strokeWidth={1.75}
          aria-hidden="true"
          className={kept === undefined ? 'fill-none' : 'fill-current'}
        />
        {kept === undefined ? words.favourite : words.unfavourite}
      </Button>
      {error !== undefined && <Problem error={error} />}
    </>
  )
}
