import type { Schemas } from '@sallyport/client'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { toast } from '../parts/announcer.tsx'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { Card, Section } from '../parts/page.tsx'
import { now } from '../time/clock.ts'
import { useFormats } from '../time/formats.ts'
import { useTick } from '../time/ticks.ts'
import { useWords } from '../words/words.ts'
import { endOtherSessions, endSession, sessionsQuery } from './queries.ts'
import { SignOut } from './sign-out.tsx'
import { readUserAgent } from './user-agent.ts'

type OwnSession = Schemas['Session']

/** Where the person is signed in. */
export function SessionsSection(): ReactNode {
  const words = useWords().me.sessions
  const list = useInfiniteQuery(sessionsQuery)
  const { data, error, refetch } = list
  const sessions = data?.pages.flatMap((page) => page.data)
  return (
    <Section title={words.title}>
      <Card className="grid gap-4">
        <p className="text-text-2">{words.intro}</p>
        {sessions === undefined && (error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />)}
        {sessions !== undefined && (
          <ul className="divide-y divide-line">
            {sessions.map((session) => (
              <li
                key={session.id}
                className="flex flex-wrap items-center justify-between gap-2 py-3 first:pt-0 last:pb-0"
              >
                <SessionFacts session={session} />
                {session.current ? <SignOut /> : <EndSession session={session} />}
              </li>
            ))}
          </ul>
        )}
        <LoadMore list={list} className="justify-self-start" />
        {sessions !== undefined && sessions.length > 1 && <EndOthers />}
      </Card>
    </Section>
  )
}

function SessionFacts({ session }: { session: OwnSession }): ReactNode {
  const { me, time } = useWords()
  const words = me.sessions
  const formats = useFormats()
  const at = (moment: string) => formats.moment(moment, now())
  const used = useTick((seconds) => time.ago(Math.max(0, seconds - Date.parse(session.last_used_at) / 1_000)))
  const { browser, program, created_at, source_ip, ends_at } = session
  const kind = browser ? words.kinds.browser : program ? words.kinds.program : words.kinds.token
  const facts = [kind, words.since(at(created_at)), words.from(source_ip)]
  return (
    <div className="min-w-0">
      <p className="flex flex-wrap items-center gap-2 font-medium wrap-anywhere">
        <SessionName session={session} />
        {session.current && (
          <Badge tone="ok" icon="check">
            {words.current}
          </Badge>
        )}
      </p>
      <p className="text-text-2 wrap-anywhere">{facts.join(' · ')}</p>
      <p className="text-meta text-text-2">{[words.lastUsed(used), words.until(at(ends_at))].join(' · ')}</p>
    </div>
  )
}

const useSessionName = ({ user_agent }: OwnSession): string => {
  const words = useWords().me.sessions
  const named = readUserAgent(user_agent)
  if (named === undefined) return words.unknownProgram
  return named.system === undefined ? named.program : words.onSystem(named.program, named.system)
}

function SessionName({ session }: { session: OwnSession }): ReactNode {
  return <span title={session.user_agent ?? undefined}>{useSessionName(session)}</span>
}

function EndSession({ session }: { session: OwnSession }): ReactNode {
  const words = useWords().me.sessions
  const queries = useQueryClient()
  const name = useSessionName(session)
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button aria-label={words.endNamed(name)} onClick={() => setOpen(true)}>
        {words.end}
      </Button>
      {isOpen && (
        <Confirm
          title={words.endTitle}
          consequences={words.endConsequences(name)}
          act={words.end}
          close={() => setOpen(false)}
          run={async () => {
            await endSession(session.id)
            toast(words.ended)
            await queries.invalidateQueries({ queryKey: sessionsQuery.queryKey })
          }}
        />
      )}
    </>
  )
}

function EndOthers(): ReactNode {
  const words = useWords().me.sessions
  const queries = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  return (
    <div>
      <Button onClick={() => setOpen(true)}>{words.endOthers}</Button>
      {isOpen && (
        <Confirm
          title={words.endOthersTitle}
          consequences={words.endOthersConsequences}
          act={words.endOthers}
          close={() => setOpen(false)}
          run={async () => {
            const { ended } = await endOtherSessions()
            toast(words.othersEnded(ended))
            await queries.invalidateQueries({ queryKey: sessionsQuery.queryKey })
          }}
        />
      )}
    </div>
  )
}
