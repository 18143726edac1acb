import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMe } from '../me/me.ts'
import { buttonClass } from '../parts/button.tsx'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { Page } from '../parts/page.tsx'
import { Select } from '../parts/select.tsx'
import { WithSetUpWords } from '../start/with-set-up-words.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { ConnectForm } from './connect-form.tsx'
import type { Connection } from './connection.ts'
import { connectionsQuery } from './queries.ts'
import { StepItem } from './step-item.tsx'
import { Steps } from './steps.tsx'
import { another } from './view.ts'

/** The connections to AWS: how to set one up, and what it sees. */
export function AwsPage(): ReactNode {
  return (
    <WithSetUpWords>
      <Connections />
    </WithSetUpWords>
  )
}

function Connections(): ReactNode {
  const words = useSetUpWords().aws
  const { connection: wanted } = useSearch({ from: '/aws' })
  const mayChange = useMe().scopes.includes('provisioners:write')
  const { data, error, refetch } = useQuery(connectionsQuery)
  const chosen = wanted === another ? undefined : (data?.find(({ id }) => id === wanted) ?? data?.[0])
  const canAdd = mayChange && data !== undefined && data.length > 0 && wanted !== another
  return (
    <Page
      title={words.title}
      actions={
        canAdd && (
          <Link to="/aws" search={{ connection: another }} className={buttonClass('quiet')}>
            {words.connectAnother}
          </Link>
        )
      }
    >
      <div className="grid max-w-[800px] gap-6">
        <p className="sound-width text-text-2">{words.intro}</p>
        {data === undefined && (error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />)}
        {data !== undefined && data.length > 1 && chosen !== undefined && <Choose from={data} chosen={chosen} />}
        {data !== undefined && chosen === undefined && <Unconnected mayChange={mayChange} />}
        {chosen !== undefined && <Steps key={chosen.id} id={chosen.id} />}
      </div>
    </Page>
  )
}

function Choose({ from, chosen }: { from: readonly Connection[]; chosen: Connection }): ReactNode {
  const words = useSetUpWords().aws
  const navigate = useNavigate()
  return (
    <div className="max-w-[480px]">
      <Select
        label={words.connection}
        value={chosen.id}
        options={from.map(({ id, name }) => ({ value: id, text: name }))}
        onChange={(id) => navigate({ to: '/aws', search: { connection: id } })}
      />
    </div>
  )
}

/** All steps, of which the first is to be done. */
function Unconnected({ mayChange }: { mayChange: boolean }): ReactNode {
  const words = useSetUpWords().aws
  if (!mayChange) return <p className="text-text-2">{words.nothingYet}</p>
  return (
    <ol className="grid gap-4">
      <StepItem step="answers" state="next">
        <p className="sound-width text-text-2">{words.three}</p>
        <ConnectForm />
      </StepItem>
      <StepItem step="role" state="todo" />
      <StepItem step="test" state="todo" />
      <StepItem step="sight" state="todo" />
      <StepItem step="on" state="todo" />
    </ol>
  )
}
