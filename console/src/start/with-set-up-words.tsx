import type { ReactNode } from 'react'
import { useMe } from '../me/me.ts'
import { englishSetUp } from '../words/english-set-up.ts'
import { loadSetUpWords, SetUpWordsContext } from '../words/set-up-words.ts'
import { useLoaded } from '../words/use-loaded.ts'
import { useWords } from '../words/words.ts'

/** Shows a page once its words are there, in the language of the person. */
export function WithSetUpWords({ children }: { children: ReactNode }): ReactNode {
  const words = useWords()
  const { locale } = useMe().preferences
  const own = useLoaded(loadSetUpWords, locale, englishSetUp)
  return own !== undefined && <SetUpWordsContext value={{ ...words, ...own }}>{children}</SetUpWordsContext>
}
