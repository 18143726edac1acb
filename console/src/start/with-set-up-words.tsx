import { type ReactNode, useEffect, useState } from 'react'
import { useMe } from '../me/me.ts'
import { englishSetUp } from '../words/english-set-up.ts'
import { loadSetUpWords, type OwnSetUpWords, SetUpWordsContext } from '../words/set-up-words.ts'
import { useWords } from '../words/words.ts'

/** Shows a page once its words are there, in the language of the person. */
export function WithSetUpWords({ children }: { children: ReactNode }): ReactNode {
  const words = useWords()
  const { locale } = useMe().preferences
  const [own, setOwn] = useState<OwnSetUpWords>()
  useEffect(() => {
    let isCurrent = true
    loadSetUpWords(locale).then(
      (loaded) => isCurrent && setOwn(loaded),
      () => isCurrent && setOwn(englishSetUp),
    )
    return () => {
      isCurrent = false
    }
  }, [locale])
  return own !== undefined && <SetUpWordsContext value={{ ...words, ...own }}>{children}</SetUpWordsContext>
}
