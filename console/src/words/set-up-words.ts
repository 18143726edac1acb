import { createContext, use } from 'react'
import { loadPart } from '../live/load-part.ts'
import { englishSetUp } from './english-set-up.ts'
import type { Words } from './words.ts'

export type OwnSetUpWords = typeof englishSetUp

/** The words of the pages by which an organization is set up, and of what few see, beside those of the whole console. */
export type SetUpWords = Words & OwnSetUpWords

export const SetUpWordsContext = createContext<SetUpWords | undefined>(undefined)

export function useSetUpWords(): SetUpWords {
  const words = use(SetUpWordsContext)
  if (words === undefined) throw new Error('this page is not within its words')
  return words
}

/** The words of a language tag; English where there are no others. */
export async function loadSetUpWords(locale: string): Promise<OwnSetUpWords> {
  return /^de\b/i.test(locale) ? (await loadPart(() => import('./german-set-up.ts'))).germanSetUp : englishSetUp
}
