import { Refusal } from '@sallyport/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import { lacksFactor } from '../api/faults.ts'
import { sessionOver } from '../api/session-over.ts'
import { Insecure } from '../frame/insecure.tsx'
import { saySignedIn, startLive } from '../live/live.ts'
import { loadPart } from '../live/load-part.ts'
import { followPerson } from '../live/person.ts'
import { zoneOfDevice } from '../me/device.ts'
import { type Me, MeContext, meQuery } from '../me/me.ts'
import { preferencesHere } from '../me/preferences.ts'
import { toast } from '../parts/announcer.tsx'
import { clearDrafts } from '../parts/draft.ts'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { standIn } from '../rehearsal/stand-in.ts'
import { SignInAgain } from '../sign-in/sign-in-again.tsx'
import { SignInPage } from '../sign-in/sign-in-page.tsx'
import { FormatsContext, makeFormats } from '../time/formats.ts'
import { WordsContext } from '../words/words.ts'
import { useWordsOf, WithoutPreferences } from './without-preferences.tsx'

const SecondFactorNeeded = lazy(async () => ({
  default: (await loadPart(() => import('../me/second-factor-needed.tsx'))).SecondFactorNeeded,
}))

const StandInAgain = lazy(async () => ({
  default: (await loadPart(() => import('../rehearsal/stand-in-gate.tsx'))).StandInAgain,
}))

/** A colleague of the rehearsal never signs in: the owner has the window go on. */
const [FirstSignIn, NextSignIn] = standIn === undefined ? [SignInPage, SignInAgain] : [StandInAgain, StandInAgain]

/**
 * The session of the person. Without one, the window asks for a sign-in. When it ends while they work, the page stays as it is behind the
 * sign-in. Another person who signs in gets a window of their own: nothing of the former remains.
 */
export function Session({ children }: { children: ReactNode }): ReactNode {
  const queries = useQueryClient()
  const { data: me, dataUpdatedAt, error, refetch } = useQuery(meQuery)
  const [isOver, setOver] = useState(false)
  const last = useRef<string>(undefined)
  const noteOver = useCallback(() => setOver(true), [])
  useEffect(() => sessionOver.listen(noteOver), [noteOver])
  useEffect(() => {
    if (me === undefined) return
    if (last.current !== undefined && last.current !== me.id) leave()
    last.current = me.id
    clearDrafts(me.id)
    // A browser has one session: what another window shows of another person is over. A colleague of the rehearsal has no session of it.
    if (standIn === undefined) return followPerson(me.id, leave)
  }, [me])

  const needsFactor = useNeedsFactor(error, dataUpdatedAt)

  const isSignedOut = error instanceof Refusal && error.status === 401
  const goOn = useCallback(() => {
    setOver(false)
    queries.invalidateQueries().catch(() => undefined)
  }, [queries])
  const onSignedIn = () => {
    goOn()
    if (last.current !== undefined) saySignedIn(last.current)
  }
  // Without https, browsers lack what the console is made of, and the service starts no session.
  if (!isSecureContext)
    return (
      <WithoutPreferences>
        <Insecure />
      </WithoutPreferences>
    )
  if (needsFactor && !isSignedOut)
    return (
      <WithoutPreferences>
        <SecondFactorNeeded onSignedIn={onSignedIn} />
      </WithoutPreferences>
    )
  if (me === undefined) {
    if (isSignedOut)
      return (
        <WithoutPreferences>
          <FirstSignIn onSignedIn={onSignedIn} />
        </WithoutPreferences>
      )
    return <div className="p-6">{error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />}</div>
  }
  return (
    <SignedIn me={me} isOver={isOver || isSignedOut} onOver={noteOver} onSignedIn={goOn}>
      {children}
      {(isOver || isSignedOut) && <NextSignIn onSignedIn={onSignedIn} />}
    </SignedIn>
  )
}

/** Whether the sign-in lacks a second factor. It holds until the service answers: while the question is repeated, there is no error. */
function useNeedsFactor(error: Error | null, answeredAt: number): boolean {
  const [needsFactor, setNeedsFactor] = useState(false)
  useEffect(() => {
    if (answeredAt > 0) setNeedsFactor(false)
  }, [answeredAt])
  useEffect(() => {
    if (error !== null && lacksFactor(error)) setNeedsFactor(true)
  }, [error])
  return needsFactor || (error !== null && lacksFactor(error))
}

type SignedInProps = { me: Me; isOver: boolean; onOver: () => void; onSignedIn: () => void; children: ReactNode }

/** What depends on the person: the language, the formats of dates, and the stream of what changed. */
function SignedIn({ me, isOver, onOver, onSignedIn, children }: SignedInProps): ReactNode {
  const queries = useQueryClient()
  const words = useWordsOf(me.preferences.locale)
  useEffect(
    () => startLive({ queries, user_id: me.id, isOver, onOver, onSignedIn, onSignedOut: leave, onNotified: toast }),
    [queries, me.id, isOver, onOver, onSignedIn],
  )
  if (words === undefined) return null
  return (
    <MeContext value={me}>
      <WordsContext value={words}>
        <FormatsContext value={makeFormats(preferencesHere(me.preferences, zoneOfDevice()))}>{children}</FormatsContext>
      </WordsContext>
    </MeContext>
  )
}

/** What was written and read here is not for the next person. */
function leave(): void {
  clearDrafts()
  location.reload()
}
