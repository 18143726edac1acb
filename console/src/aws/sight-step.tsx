import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ActProblem } from '../me/act-problem.tsx'
import { useAct } from '../parts/act.ts'
import { Button } from '../parts/button.tsx'
import { EnglishText } from '../parts/english-text.tsx'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { sentenceOf } from '../parts/sentence.ts'
import { now } from '../time/clock.ts'
import { Moment } from '../time/moment.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { type Connection, isFound } from './connection.ts'
import { asOf, type Inventory, isBeingRead, isWhole, readAt } from './inventory.ts'
import { inventoryQuery, refreshInventory } from './inventory-queries.ts'
import { LongSessions } from './long-sessions.tsx'
import { StepItem } from './step-item.tsx'
import { Unmatched } from './unmatched.tsx'

type SightStepProps = { connection: Connection; mayChange: boolean }

/** What AWS holds, and what would keep the first grant from working. */
export function SightStep({ connection, mayChange }: SightStepProps): ReactNode {
  const words = useSetUpWords().aws.sight
  const { id } = connection
  const found = isFound(connection)
  const { data, error, refetch } = useQuery({ ...inventoryQuery(id), enabled: found })
  return (
    <StepItem step="sight" state={data !== undefined && isWhole(data) ? 'done' : 'todo'}>
      {!found && <p className="sound-width text-text-2">{words.before}</p>}
      {found && data === undefined && (error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />)}
      {data !== undefined && (
        <>
          <Summary inventory={data} />
          <Unmatched id={id} count={data.unmatched_users} readAt={readAt(data, 'people')} />
          <LongSessions sets={data.long_sessions} longestSeconds={data.longest_grant_seconds} />
          <Faults parts={data.parts} />
          <Refresh id={id} inventory={data} mayChange={mayChange} />
        </>
      )}
    </StepItem>
  )
}

function Summary({ inventory }: { inventory: Inventory }): ReactNode {
  const words = useSetUpWords().aws.sight
  const { accounts, permission_sets, people, organizational_units, databases, groups } = inventory.counts
  const more =
    organizational_units !== null && databases !== null && groups !== null
      ? words.more(organizational_units, databases, groups)
      : ''
  return (
    // What is read appears by itself.
    <div role="status" className="grid gap-1 empty:-mb-4">
      {accounts !== null && permission_sets !== null && people !== null && (
        <p className="text-sentence font-medium">{words.seen(accounts, permission_sets, people)}</p>
      )}
      {more !== '' && <p className="text-text-2">{more}</p>}
      {isBeingRead(inventory, now()) && <p className="text-text-2">{words.reading}</p>}
    </div>
  )
}

/** What could not be read, or what a list leaves out, and how to fix it. */
function Faults({ parts }: Pick<Inventory, 'parts'>): ReactNode {
  const words = useSetUpWords().aws.sight
  const faulty = parts.filter(({ error }) => error !== null)
  if (faulty.length === 0) return null
  return (
    <ul className="grid gap-2 rounded-control bg-wait-tint p-3">
      {faulty.map(({ part, error, finished_at }) => (
        <li key={part} className="sound-width wrap-anywhere">
          <span className="font-medium text-wait">
            {finished_at === null ? words.failed(words.parts[part]) : words.note(words.parts[part])}
          </span>{' '}
          <EnglishText>{sentenceOf(error ?? '')}</EnglishText>
        </li>
      ))}
    </ul>
  )
}

type RefreshProps = { id: string; inventory: Inventory; mayChange: boolean }

function Refresh({ id, inventory, mayChange }: RefreshProps): ReactNode {
  const words = useSetUpWords().aws.sight
  const queries = useQueryClient()
  const act = useAct()
  const at = asOf(inventory)
  const refresh = () =>
    act.run(async () => {
      queries.setQueryData(inventoryQuery(id).queryKey, await refreshInventory(id))
    }, id)
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        {mayChange && (
          <Button isPending={act.isPending} onClick={refresh}>
            {words.refresh}
          </Button>
        )}
        {at !== undefined && (
          <span className="text-text-2">
            {words.asOf} <Moment at={at} />
          </span>
        )}
      </div>
      <ActProblem act={act} />
    </>
  )
}
