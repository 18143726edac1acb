import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useMe } from '../me/me.ts'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { readableId } from '../requests/request.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import { accountOf, doneSteps, isFound, nextStep, regionOf, type Step } from './connection.ts'
import { OnStep } from './on-step.tsx'
import { connectionQuery } from './queries.ts'
import { RoleStep } from './role-step.tsx'
import { SightStep } from './sight-step.tsx'
import { StandingAccess } from './standing-access.tsx'
import { StepItem, type StepState } from './step-item.tsx'
import { TestStep } from './test-step.tsx'

/** The steps of one connection, from the answers to access. */
export function Steps({ id }: { id: string }): ReactNode {
  const words = useSetUpWords().aws
  const { scopes } = useMe()
  const { data, error, refetch } = useQuery(connectionQuery(id))
  if (data === undefined) return error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />
  const connection = data.record
  const mayChange = scopes.includes('provisioners:write')
  const [done, next] = [doneSteps(connection), nextStep(connection)]
  const stateOf = (step: Step): StepState => (done.has(step) ? 'done' : step === next ? 'next' : 'todo')
  return (
    <>
      {!mayChange && <p className="text-text-2">{words.noWrite}</p>}
      <ol className="grid gap-4">
        <StepItem step="answers" state="done">
          <p className="wrap-anywhere">
            {words.answers.given(readableId(accountOf(connection)), regionOf(connection))}
          </p>
        </StepItem>
        <RoleStep connection={connection} state={stateOf('role')} mayChange={mayChange} />
        <TestStep
          connection={connection}
          state={stateOf('test')}
          mayChange={mayChange}
          isNext={next === 'role' || next === 'test'}
        />
        <SightStep connection={connection} mayChange={mayChange} />
        <OnStep tagged={data} state={stateOf('on')} mayChange={mayChange} />
      </ol>
      {isFound(connection) && <StandingAccess id={id} />}
    </>
  )
}
