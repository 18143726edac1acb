import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { Tagged } from '../api/tagged.ts'
import { ActProblem } from '../me/act-problem.tsx'
import { useMe } from '../me/me.ts'
import { useAct } from '../parts/act.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { type Connection, isOn } from './connection.ts'
import { turnOn } from './queries.ts'
import { type Served, Serving } from './serving.tsx'
import { StepItem, type StepState } from './step-item.tsx'

type OnStepProps = { tagged: Tagged<Connection>; state: StepState; mayChange: boolean }

/** The last step: from then on, access is given in AWS. */
export function OnStep({ tagged, state, mayChange }: OnStepProps): ReactNode {
  const words = useSetUpWords().aws.on
  const connection = tagged.record
  return (
    <StepItem step="on" state={state}>
      {isOn(connection) ? (
        <div role="status" className="grid justify-items-start gap-3">
          <p className="text-sentence font-medium text-ok">{words.live}</p>
          <p className="sound-width text-text-2">{words.liveText}</p>
          <Link to="/" className={buttonClass('outline')}>
            {words.request}
          </Link>
        </div>
      ) : state === 'next' ? (
        mayChange && <TurnOn tagged={tagged} />
      ) : (
        <p className="text-text-2">{words.testFirst}</p>
      )}
    </StepItem>
  )
}

function TurnOn({ tagged }: { tagged: Tagged<Connection> }): ReactNode {
  const words = useSetUpWords().aws.on
  const queries = useQueryClient()
  const act = useAct()
  const [isAsking, ask] = useState(false)
  const [served, serve] = useState<readonly Served[]>(['cloud_account'])
  const { serves, mode } = tagged.record
  /** What was named with the API stays. */
  const isNamed = serves.length > 0
  const wanted = isNamed ? undefined : served.map((resource_type) => ({ resource_type }))
  const go = () =>
    act.run(async () => {
      try {
        await turnOn(tagged, wanted)
      } finally {
        // Also where another person changed it. The rehearsal may have ended, which the whole console shows.
        await queries.invalidateQueries({ queryKey: ['provisioner'] })
        await queries.invalidateQueries({ queryKey: ['me'] })
      }
    }, wanted)
  return (
    <div className="grid gap-4">
      {mode === 'rehearsal' && <FactorFirst />}
      {isNamed ? <p>{words.servesNamed}</p> : <Serving served={served} serve={serve} />}
      {served.length === 0 ? (
        <p className="text-text-2">{words.servesNothing}</p>
      ) : (
        <div>
          <Button look="primary" isPending={act.isPending} onClick={() => ask(true)}>
            {words.act}
          </Button>
        </div>
      )}
      <ActProblem act={act} />
      {isAsking && (
        <Confirm
          title={words.title}
          consequences={mode === 'rehearsal' ? `${words.goesLive} ${words.consequences}` : words.consequences}
          act={words.act}
          close={() => ask(false)}
          // What it is refused for stands below the button, where a person can sign in again.
          run={go}
        />
      )}
    </div>
  )
}

/** A live tenant lets some people in with a second factor alone: the page that follows would ask for one. */
function FactorFirst(): ReactNode {
  const words = useSetUpWords().aws.on
  const { amr, needs_second_factor } = useMe().sign_in
  if (!needs_second_factor || amr.includes('mfa')) return null
  return (
    <p className="sound-width rounded-control bg-wait-tint p-3 text-wait">
      {words.factorFirst}{' '}
      <Link to="/me" className="rounded-control font-medium underline">
        {words.setUpFactor}
      </Link>
    </p>
  )
}
