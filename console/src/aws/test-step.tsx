import { useQueryClient } from '@tanstack/react-query'
import { Check, Circle, type LucideIcon, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { ActProblem } from '../me/act-problem.tsx'
import { useAct } from '../parts/act.ts'
import { Button } from '../parts/button.tsx'
import { EnglishText } from '../parts/english-text.tsx'
import { sentenceOf } from '../parts/sentence.ts'
import { now } from '../time/clock.ts'
import { useFormats } from '../time/formats.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import { type Line, linesOf } from './checks.ts'
import { type Connection, isOn } from './connection.ts'
import { testConnection } from './queries.ts'
import { StepItem, type StepState } from './step-item.tsx'

type TestStepProps = { connection: Connection; state: StepState; mayChange: boolean; isNext: boolean }

/** The test of a connection, line by line, and how to fix what it finds. */
export function TestStep({ connection, state, mayChange, isNext }: TestStepProps): ReactNode {
  const words = useSetUpWords().aws.test
  const queries = useQueryClient()
  const act = useAct()
  const { id, health } = connection
  const test = () =>
    act.run(async () => {
      await testConnection(id)
      await queries.invalidateQueries({ queryKey: ['provisioner'] })
    }, id)
  // While it is tested again, what an earlier test found says nothing.
  const checks = act.isPending ? [] : (health?.checks ?? [])
  const lines = (
    <ul aria-label={words.lines} className="divide-y divide-line border-y border-line">
      {linesOf(checks).map((line) => (
        <Row key={line.what} line={line} />
      ))}
    </ul>
  )
  // Where it works, nobody needs the lines until they look for them.
  const isFolded = isOn(connection) && health?.ok === true && !act.isPending
  return (
    <StepItem step="test" state={state}>
      {isFolded ? (
        <details>
          <summary className="w-fit rounded-control font-medium">{words.lines}</summary>
          <div className="mt-3">{lines}</div>
        </details>
      ) : (
        lines
      )}
      <div className="flex flex-wrap items-center gap-3">
        {mayChange && (
          <Button look={isNext ? 'primary' : 'outline'} isPending={act.isPending} onClick={test}>
            {health === null ? words.test : words.again}
          </Button>
        )}
        {/* It is there before it says something, so that screen readers read it out. */}
        <div role="status">{act.isPending ? words.running : <Outcome health={health} />}</div>
      </div>
      <ActProblem act={act} />
    </StepItem>
  )
}

function Outcome({ health }: Pick<Connection, 'health'>): ReactNode {
  const words = useSetUpWords().aws.test
  const formats = useFormats()
  if (health === null) return <span className="text-text-2">{words.intro}</span>
  const at = formats.moment(health.checked_at, now())
  if (health.ok) return <span className="text-ok">{words.passed(at)}</span>
  return <span className="text-bad">{words.failed(health.checks.filter(({ ok }) => !ok).length, at)}</span>
}

const marks = {
  ok: { Icon: Check, color: 'text-ok' },
  failed: { Icon: X, color: 'text-bad' },
  pending: { Icon: Circle, color: 'text-text-3' },
} as const satisfies Record<Line['state'], { Icon: LucideIcon; color: string }>

function Row({ line: { kind, what, state, message } }: { line: Line }): ReactNode {
  const words = useSetUpWords().aws.test
  const { Icon, color } = marks[state]
  return (
    <li className="grid grid-cols-[16px_minmax(0,1fr)] gap-x-3 py-2">
      <Icon size={16} strokeWidth={1.75} role="img" aria-label={words.states[state]} className={`mt-0.5 ${color}`} />
      <div className="flex flex-wrap justify-between gap-x-4 wrap-anywhere">
        <p className="font-medium">{kind === undefined ? <EnglishText>{what}</EnglishText> : words.kinds[kind]}</p>
        {state === 'pending' && <p className="text-text-2">{words.states.pending}</p>}
        {message !== null && (
          <p className={`sound-width w-full ${state === 'failed' ? 'text-bad' : 'text-text-2'}`}>
            {isName(message) ? (
              <code className="font-mono text-meta break-all">{message}</code>
            ) : (
              <EnglishText>{sentenceOf(message)}</EnglishText>
            )}
          </p>
        )}
      </div>
    </li>
  )
}

/** A message may be a name alone, to copy as it is. */
const isName = (message: string) => !message.includes(' ')
