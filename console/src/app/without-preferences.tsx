import { type ReactNode, Suspense, useEffect } from 'react'
import { zoneOfDevice } from '../me/device.ts'
import { Announcer } from '../parts/announcer.tsx'
import { FormatsContext, makeFormats } from '../time/formats.ts'
import { english } from '../words/english.ts'
import { useLoaded } from '../words/use-loaded.ts'
import { loadWords, type Words, WordsContext } from '../words/words.ts'

/** What surrounds a page for somebody whose preferences are not known: the language is the browser's. */
export function WithoutPreferences({ children }: { children: ReactNode }): ReactNode {
  const locale = navigator.language
  const words = useWordsOf(locale)
  const formats = makeFormats({ locale, timezone: zoneOfDevice(), date_format: null, time_format: null })
  if (words === undefined) return null
  return (
    <WordsContext value={words}>
      <FormatsContext value={formats}>
        <Suspense fallback={null}>{children}</Suspense>
        <Announcer />
      </FormatsContext>
    </WordsContext>
  )
}

/** The words of a language, once they are loaded; those in English are part of the page. The page says its language to screen readers. */
export function useWordsOf(locale: string): Words | undefined {
  useEffect(() => {
    document.documentElement.lang = /^de\b/i.test(locale) ? 'de' : 'en'
  }, [locale])
  return useLoaded(loadWords, locale, english)
}
