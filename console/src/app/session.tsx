import { Refusal } from '@sallyport/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import { startLive } from '../live/live.ts'
import { type Me, MeContext, meQuery } from '../me/me.ts'
import { toast } from '../parts/announcer.tsx'
import { clearDrafts } from '../parts/draft.ts'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { SignInAgain } from '../sign-in/sign-in-again.tsx'
import { SignInPage } from '../sign-in/sign-in-page.tsx'
import { FormatsContext, makeFormats } from '../time/formats.ts'
import { loadWords, type Words, WordsContext } from '../words/words.ts'
import { sessionOver } from './session-over.ts'

/**
 * The session of the person. Without one, the window asks for a sign-in. When it ends while they work, the page stays as it is behind the
 * sign-in. Another person who signs in gets a window of their own: nothing of the former remains.
 */
export function Session({ children }: { children: ReactNode }): ReactNode {
  const queries = useQueryClient()
  const { data: me, error, refetch } = useQuery(meQuery)
  const [isOver, setOver] = useState(false)
  const last = useRef<string>(undefined)
  const noteOver = useCallback(() => setOver(true), [])
  useEffect(() => sessionOver.listen(noteOver), [noteOver])
  useEffect(() => {
    if (me === undefined) return
    if (last.current !== undefined && last.current !== me.id) {
      clearDrafts()
      location.reload()
    }
    last.current = me.id
  }, [me])

  const isSignedOut = error instanceof Refusal && error.status === 401
  const onSignedIn = async () => {
    setOver(false)
    await queries.invalidateQueries()
  }
  if (me === undefined) {
    if (isSignedOut) return <SignInPage onSignedIn={onSignedIn} />
    return <div className="p-6">{error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />}</div>
  }
  return (
    <SignedIn me={me} onOver={noteOver}>
      {children}
      {(isOver || isSignedOut) && <SignInAgain onSignedIn={onSignedIn} />}
    </SignedIn>
  )
}

/** What depends on the person: the language, the formats of dates, and the stream of what changed. */
function SignedIn({ me, onOver, children }: { me: Me; onOver: () => void; children: ReactNode }): ReactNode {
  const queries = useQueryClient()
  const words = useWordsOf(me.preferences.locale)
  useEffect(() => startLive({ queries, user_id: me.id, onOver, onNotified: toast }), [queries, me.id, onOver])
  if (words === undefined) return null
  return (
    <MeContext value={me}>
      <WordsContext value={words}>
        <FormatsContext value={makeFormats(me.preferences)}>{children}</FormatsContext>
      </WordsContext>
    </MeContext>
  )
}

/** The words of a language, once they are loaded. The page says its language to screen readers. */
function useWordsOf(locale: string): Words | undefined {
  const [words, setWords] = useState<Words>()
  useEffect(() => {
    let isCurrent = true
    document.documentElement.lang = /^de\b/i.test(locale) ? 'de' : 'en'
    loadWords(locale).then(
      (loaded) => isCurrent && setWords(() => loaded),
      // The words in English are part of the page.
      () => undefined,
    )
    return () => {
      isCurrent = false
    }
  }, [locale])
  return words
}
