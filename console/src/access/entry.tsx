import type { Schemas } from '@sallyport/client'
import { useWords } from '../words/words.ts'

/** A resource and an action that the person may request. */
export type Entry = Schemas['CatalogueEntry']

export const keyOf = ({ resource, action }: Entry) => `${resource.type}/${resource.id}/${action}`

/** What a request for it would get. */
export function Answer({ entry }: { entry: Entry }): string {
  const { search } = useWords().access
  if (entry.live_grant_id !== null) return search.haveIt
  if (entry.break_glass) return search.emergencyOnly
  return entry.answer === 'at_once' ? search.atOnce : search.byApproval
}
