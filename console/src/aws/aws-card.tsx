import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { maySeeConnections, useMe } from '../me/me.ts'
import { buttonClass } from '../parts/button.tsx'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { Card } from '../parts/page.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { ConnectForm } from './connect-form.tsx'
import { type Connection, nextStep } from './connection.ts'
import { connectionsQuery } from './queries.ts'

/** AWS among the first steps: the form where nothing is connected, and else what is next. Nothing for who may not see it. */
export function AwsCard(): ReactNode {
  const words = useSetUpWords().aws
  const me = useMe()
  const maySee = maySeeConnections(me)
  const mayChange = me.scopes.includes('provisioners:write')
  const { data, error, refetch } = useQuery({ ...connectionsQuery, enabled: maySee })
  if (!maySee) return null
  return (
    <Card className="grid gap-4">
      <div className="grid gap-1">
        <h3 className="text-sentence font-semibold">{words.title}</h3>
        <p className="sound-width text-text-2">
          {words.intro} {data?.length === 0 && mayChange && words.three}
        </p>
      </div>
      {data === undefined && (error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />)}
      {data?.length === 0 && (mayChange ? <ConnectForm look="outline" /> : <p>{words.nothingYet}</p>)}
      {data !== undefined && data.length > 0 && (
        <ul className="divide-y divide-line">
          {data.map((connection) => (
            <Row key={connection.id} connection={connection} />
          ))}
        </ul>
      )}
    </Card>
  )
}

/** The state of a connection in one line, and the way to the page that has the rest. */
function Row({ connection }: { connection: Connection }): ReactNode {
  const words = useSetUpWords().aws
  const state = nextStep(connection) ?? 'isOn'
  return (
    <li className="flex flex-wrap items-center justify-between gap-3 py-3 first:pt-0 last:pb-0">
      <div className="min-w-0">
        <p className="font-medium wrap-anywhere">
          <bdi>{connection.name}</bdi>
        </p>
        <p className="text-text-2">{words.states[state]}</p>
      </div>
      <Link to="/aws" search={{ connection: connection.id }} className={buttonClass('outline')}>
        {words.acts[state]}
      </Link>
    </li>
  )
}
