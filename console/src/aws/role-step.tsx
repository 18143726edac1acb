import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { ActProblem } from '../me/act-problem.tsx'
import { useAct } from '../parts/act.ts'
import { Button, type Look } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { type Connection, isOn } from './connection.ts'
import { renewExternalId } from './queries.ts'
import { keepSetUp, useSetUp } from './shown-once.ts'
import { Snippet } from './snippet.tsx'
import { StepItem, type StepState } from './step-item.tsx'

type RoleStepProps = { connection: Connection; state: StepState; mayChange: boolean }

/** The role that a person makes in AWS: the snippet where this window was shown it, and the way to another. */
export function RoleStep({ connection, state, mayChange }: RoleStepProps): ReactNode {
  const words = useSetUpWords().aws.role
  const setUp = useSetUp(connection.id)
  const title = useRef<HTMLHeadingElement>(null)
  // It is news, and stands elsewhere than the button that made it.
  useEffect(() => {
    if (setUp !== undefined) title.current?.focus()
  }, [setUp])
  return (
    <StepItem step="role" state={state} title={title}>
      {state === 'done' && <p>{words.trusted}</p>}
      {setUp !== undefined && state !== 'done' && <Snippet key={setUp.snippets[0]?.text} setUp={setUp} />}
      {setUp === undefined && state !== 'done' && mayChange && <p className="sound-width">{words.lost}</p>}
      {mayChange && (state === 'done' || setUp === undefined || setUp.note !== null) && (
        <Renew connection={connection} look={state === 'done' ? 'quiet' : 'outline'} />
      )}
    </StepItem>
  )
}

function Renew({ connection, look }: { connection: Connection; look: Look }): ReactNode {
  const words = useSetUpWords().aws.role
  const queries = useQueryClient()
  const act = useAct()
  const [isAsking, ask] = useState(false)
  const { id } = connection
  const renew = () =>
    act.run(async (key) => {
      const { set_up } = await renewExternalId(id, key)
      keepSetUp(id, set_up)
      await queries.invalidateQueries({ queryKey: ['provisioner'] })
    }, id)
  return (
    <div className="grid justify-items-start gap-3">
      {/* Where access depends on it, a click by mistake would end that a day later. */}
      <Button
        look={look}
        className={look === 'quiet' ? '-ml-3' : ''}
        isPending={act.isPending}
        onClick={() => (isOn(connection) ? ask(true) : renew())}
      >
        {words.renew}
      </Button>
      <ActProblem act={act} />
      {isAsking && (
        <Confirm
          title={words.renewTitle}
          consequences={words.renewConsequences}
          act={words.renewAct}
          close={() => ask(false)}
          // What it is refused for stands below the button, where a person can sign in again.
          run={renew}
        />
      )}
    </div>
  )
}
