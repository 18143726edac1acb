import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ActProblem } from '../me/act-problem.tsx'
import { useAct } from '../parts/act.ts'
import { toast } from '../parts/announcer.tsx'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { now } from '../time/clock.ts'
import { useFormats } from '../time/formats.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import { conflictsQuery, settleConflict } from './conflict-queries.ts'
import { type Act, type Conflict, oneOf, twoOf } from './conflicts.ts'
import type { Directory } from './directory.ts'

type ConflictItemProps = { conflict: Conflict; directory: Directory; may: boolean }

/** Two who may be one: who is in the directory, who is here, and what a person decides. */
export function ConflictItem({ conflict, directory, may }: ConflictItemProps): ReactNode {
  const words = useSetUpWords().directories.conflicts
  const formats = useFormats()
  const queries = useQueryClient()
  const act = useAct()
  const [asked, ask] = useState<Act>()
  const { name, user_name, email, kept_apart, of_directory, holder_name: here, holder_active, seen_at } = conflict
  const settle = (decided: Act) =>
    act.run(async () => {
      try {
        await settleConflict(directory.id, conflict, decided)
        toast(words.settled)
      } finally {
        // Where it is refused, it may be about somebody else by now.
        await queries.invalidateQueries({ queryKey: conflictsQuery(directory.id).queryKey })
      }
    }, decided)
  return (
    <li className="grid gap-3 py-4 first:pt-0 last:pb-0">
      <div className="grid gap-x-6 gap-y-3 sm:grid-cols-2">
        <Side title={words.there} name={name} about={user_name === email ? undefined : user_name}>
          {kept_apart && (
            <Badge tone="neutral" icon="minus">
              {words.keptApart}
            </Badge>
          )}
        </Side>
        <Side
          title={words.here}
          name={here}
          about={of_directory ? words.left : holder_active ? undefined : words.deactivated}
        />
      </div>
      <p className="text-text-2 wrap-anywhere">
        {words.address}: <span className="text-text">{email}</span> ·{' '}
        <time dateTime={seen_at} title={formats.utc(seen_at)}>
          {words.seenAt(formats.moment(seen_at, now()))}
        </time>
      </p>
      {may && (
        <div className="flex flex-wrap gap-2">
          <Button isPending={act.isPending} aria-label={words.oneOf(name)} onClick={() => ask(oneOf(conflict))}>
            {words.one}
          </Button>
          {(of_directory || !kept_apart) && (
            <Button isPending={act.isPending} aria-label={words.twoOf(name)} onClick={() => ask(twoOf(conflict))}>
              {words.two}
            </Button>
          )}
        </div>
      )}
      <ActProblem act={act} />
      {asked !== undefined && (
        <Question
          asked={asked}
          there={name}
          here={here}
          directory={directory.name}
          isActive={holder_active}
          close={() => ask(undefined)}
          // What it is refused for stands below the buttons, where a person can sign in again.
          run={() => settle(asked)}
        />
      )}
    </li>
  )
}

type SideProps = { title: string; name: string; about?: string | undefined; children?: ReactNode }

function Side({ title, name, about, children }: SideProps): ReactNode {
  return (
    <div className="min-w-0 wrap-anywhere">
      <p className="text-meta text-text-2">{title}</p>
      <p className="flex flex-wrap items-center gap-2 font-medium">
        <bdi>{name}</bdi>
        {children}
      </p>
      {about !== undefined && <p className="text-text-2">{about}</p>}
    </div>
  )
}

type QuestionProps = {
  asked: Act
  there: string
  here: string
  directory: string
  isActive: boolean
  close: () => void
  run: () => Promise<unknown>
}

function Question({ asked, there, here, directory, isActive, close, run }: QuestionProps): ReactNode {
  const words = useSetUpWords().directories.conflicts
  const texts = {
    joins: [
      words.oneTitle(there, here),
      isActive ? words.joins(here, directory) : words.joinsActive(here, directory),
      words.actOne,
    ],
    comesBack: [words.oneTitle(there, here), words.comesBack(here), words.actOne],
    staysOut: [words.twoTitle(there, here), words.staysOut(there), words.actTwo],
    freesAddress: [words.twoTitle(there, here), words.freesAddress(here, there), words.actDelete],
  } as const satisfies Record<Act, readonly [string, string, string]>
  const [title, consequences, act] = texts[asked]
  return <Confirm title={title} consequences={consequences} act={act} close={close} run={run} />
}
