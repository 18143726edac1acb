import { useWords } from '../words/words.ts'
import type { Entry } from './entry.ts'

/** What a request for it would get. */
export function Answer({ entry }: { entry: Entry }): string {
  const { search } = useWords().access
  if (entry.live_grant_id !== null) return search.haveIt
  if (entry.break_glass) return search.emergencyOnly
  return entry.answer === 'at_once' ? search.atOnce : search.byApproval
}
