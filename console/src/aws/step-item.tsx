import { Check } from 'lucide-react'
import { type ReactNode, type Ref, useId } from 'react'
import { Card } from '../parts/page.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { type Step, steps } from './connection.ts'

export type StepState = 'done' | 'next' | 'todo'

type StepItemProps = { step: Step; state: StepState; title?: Ref<HTMLHeadingElement>; children?: ReactNode }

/** One of the steps to a connection: its number or a tick, and what to do. */
export function StepItem({ step, state, title, children }: StepItemProps): ReactNode {
  const words = useSetUpWords().aws
  const id = useId()
  return (
    <li aria-labelledby={id}>
      <Card className="grid gap-4">
        <div className="flex items-center gap-3">
          <Mark number={steps.indexOf(step) + 1} state={state} />
          <h2 id={id} ref={title} tabIndex={-1} className="text-sentence font-semibold">
            {words.steps[step]}
            <span className="sr-only">: {words[state]}</span>
          </h2>
        </div>
        {children}
      </Card>
    </li>
  )
}

const looks = {
  done: 'bg-ok-tint text-ok',
  next: 'bg-accent text-on-accent',
  todo: 'bg-sunken text-text-2',
} as const satisfies Record<StepState, string>

/** The heading says the state in words. */
function Mark({ number, state }: { number: number; state: StepState }): ReactNode {
  return (
    <span
      aria-hidden="true"
      className={`grid size-6 shrink-0 place-items-center rounded-badge text-meta font-medium ${looks[state]}`}
    >
      {state === 'done' ? <Check size={14} strokeWidth={2} /> : number}
    </span>
  )
}
