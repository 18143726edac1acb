import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Check, Circle } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import { useMe } from '../me/me.ts'
import { useAct } from '../parts/act.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { Card } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { ownRequestsQuery } from '../requests/queries.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import { createRehearsal, rehearsalQuery } from './stand-in-calls.ts'
import { choicesOf, doneOf, type Step, steps, waitingOf } from './steps.ts'

/** The rehearsal of an owner: it begins with a click, and leads through the main job from both sides. */
export function RehearsalCard(): ReactNode {
  const words = useSetUpWords().start.rehearsal
  const title = useRef<HTMLHeadingElement>(null)
  const { data, error, refetch } = useQuery(rehearsalQuery)
  const isMade = data !== undefined && data.accounts.length > 0 && data.people.length > 0
  return (
    <Card className="grid gap-4">
      <div className="grid gap-1">
        <h3 ref={title} tabIndex={-1} className="text-sentence font-semibold">
          {words.title}
        </h3>
        <p className="sound-width text-text-2">{words.text}</p>
      </div>
      {data === undefined && (error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />)}
      {/* The button that had the focus is gone then. */}
      {data !== undefined && !isMade && <Begin onBegun={() => title.current?.focus()} />}
      {isMade && <Steps accounts={data.accounts} />}
    </Card>
  )
}

function Begin({ onBegun }: { onBegun: () => void }): ReactNode {
  const words = useSetUpWords().start.rehearsal
  const queries = useQueryClient()
  const act = useAct()
  const begin = () =>
    act.run(async () => {
      queries.setQueryData(rehearsalQuery.queryKey, await createRehearsal())
      onBegun()
      await queries.invalidateQueries({ queryKey: ['catalogue'] })
    })
  return (
    <>
      {act.error !== undefined && <Problem error={act.error} />}
      <div>
        <Button look="primary" isPending={act.isPending} onClick={begin}>
          {words.begin}
        </Button>
      </div>
    </>
  )
}

function Steps({ accounts }: { accounts: Parameters<typeof choicesOf>[0] }): ReactNode {
  const words = useSetUpWords().start.rehearsal
  const { data, error, refetch } = useQuery(ownRequestsQuery)
  const [hasTried, noteTried] = useTried()
  const choices = choicesOf(accounts)
  if (data === undefined) return error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />
  if (choices === undefined) return null
  const done = doneOf(data.data, accounts, hasTried)
  const waiting = waitingOf(data.data, accounts)
  const next = steps.find((step) => !done.has(step))
  const actOf = (step: Step) => {
    const look = buttonClass(step === next ? 'primary' : 'outline')
    if (step === 'approve')
      return (
        waiting !== undefined && (
          <Link to="/requests/$id" params={{ id: waiting }} className={look}>
            {words.acts.approve}
          </Link>
        )
      )
    return (
      <Link to="/" search={choices[step]} onClick={() => step === 'refusal' && noteTried()} className={look}>
        {words.acts[step]}
      </Link>
    )
  }
  const list = (
    <ol className="grid divide-y divide-line">
      {steps.map((step) => (
        <li key={step} className="grid grid-cols-[16px_1fr] gap-x-3 gap-y-2 py-3 sm:grid-cols-[16px_1fr_auto]">
          <Tick isDone={done.has(step)} />
          <div>
            <p className="font-medium">{words.steps[step]}</p>
            <p className="sound-width text-text-2">{words.stepTexts[step]}</p>
          </div>
          <div className="flex flex-wrap items-center gap-2 max-sm:col-start-2">{actOf(step)}</div>
        </li>
      ))}
    </ol>
  )
  if (next !== undefined) return list
  return (
    <details>
      <summary className="w-fit rounded-control font-medium">{words.allDone}</summary>
      {list}
    </details>
  )
}

function Tick({ isDone }: { isDone: boolean }): ReactNode {
  const words = useSetUpWords().start.rehearsal
  const Icon = isDone ? Check : Circle
  return (
    <Icon
      size={16}
      strokeWidth={1.75}
      role="img"
      aria-label={isDone ? words.done : words.todo}
      className={`mt-0.5 ${isDone ? 'text-ok' : 'text-text-3'}`}
    />
  )
}

/** That the person opened what is not allowed, kept in this browser: the service refuses nothing that is not sent. */
function useTried(): [hasTried: boolean, note: () => void] {
  const place = `sallyport-tried:${useMe().tenant.id}`
  const [hasTried, setTried] = useState(() => localStorage.getItem(place) !== null)
  const note = () => {
    localStorage.setItem(place, 'yes')
    setTried(true)
  }
  return [hasTried, note]
}
