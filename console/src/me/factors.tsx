import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useAct } from '../parts/act.ts'
import { toast } from '../parts/announcer.tsx'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { Card, Section } from '../parts/page.tsx'
import { now } from '../time/clock.ts'
import { useFormats } from '../time/formats.ts'
import { useWords } from '../words/words.ts'
import { ActProblem } from './act-problem.tsx'
import { type Added, AddFactor } from './add-factor.tsx'
import { factorsQuery, removeFactor, replaceRecoveryCodes } from './queries.ts'
import { RecoveryCodes } from './recovery-codes.tsx'

type Factor = Awaited<ReturnType<NonNullable<(typeof factorsQuery)['queryFn']>>>['data'][number]

/** The second factors of a local user, and their recovery codes. */
export function FactorsSection(): ReactNode {
  const words = useWords().me.factors
  const queries = useQueryClient()
  const { data, error, refetch } = useQuery(factorsQuery)
  const [codes, setCodes] = useState<readonly string[]>()
  const refresh = () => queries.invalidateQueries({ queryKey: ['me'] })
  const onAdded = async ({ name, codes: first }: Added) => {
    if (first !== undefined) setCodes(first)
    toast(words.isAdded(name))
    await refresh()
  }
  return (
    <Section title={words.title}>
      <Card className="grid gap-4">
        <p className="sound-width text-text-2">{words.intro}</p>
        {data === undefined && (error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />)}
        {data?.data.length === 0 && <p>{words.none}</p>}
        {data !== undefined && data.data.length > 0 && (
          <>
            <FactorList factors={data.data} refresh={refresh} />
            <CodesLeft count={data.recovery_codes_left} onReplaced={setCodes} refresh={refresh} />
          </>
        )}
        {codes !== undefined && <RecoveryCodes codes={codes} close={() => setCodes(undefined)} />}
        {data !== undefined && <AddFactor onAdded={onAdded} />}
      </Card>
    </Section>
  )
}

type Refreshing = { refresh: () => Promise<unknown> }

function FactorList({ factors, refresh }: Refreshing & { factors: readonly Factor[] }): ReactNode {
  const words = useWords().me.factors
  const act = useAct()
  const [leaving, setLeaving] = useState<Factor>()
  const remove = ({ id, name }: Factor) =>
    act.run(async () => {
      await removeFactor(id)
      toast(words.removed(name))
      await refresh()
    })
  return (
    <>
      <ul className="divide-y divide-line">
        {factors.map((factor) => (
          <li key={factor.id} className="flex flex-wrap items-center justify-between gap-2 py-3 first:pt-0">
            <FactorFacts factor={factor} />
            <Button aria-label={words.removeNamed(factor.name)} onClick={() => setLeaving(factor)}>
              {words.remove}
            </Button>
          </li>
        ))}
      </ul>
      <ActProblem act={act} />
      {leaving !== undefined && (
        <Confirm
          title={words.removeTitle(leaving.name)}
          consequences={factors.length === 1 ? words.removeLast : words.removeConsequences}
          act={words.remove}
          close={() => setLeaving(undefined)}
          run={() => remove(leaving)}
        />
      )}
    </>
  )
}

function FactorFacts({ factor: { kind, name, created_at, last_used_at } }: { factor: Factor }): ReactNode {
  const words = useWords().me.factors
  const formats = useFormats()
  const at = (moment: string) => formats.moment(moment, now())
  const facts = [
    ...(name === words.kinds[kind] ? [] : [words.kinds[kind]]),
    words.added(at(created_at)),
    last_used_at === null ? words.neverUsed : words.lastUsed(at(last_used_at)),
  ]
  return (
    <div className="min-w-0">
      <p className="font-medium wrap-anywhere">{name}</p>
      <p className="text-text-2">{facts.join(' · ')}</p>
    </div>
  )
}

type CodesLeftProps = Refreshing & { count: number; onReplaced: (codes: readonly string[]) => void }

function CodesLeft({ count, onReplaced, refresh }: CodesLeftProps): ReactNode {
  const words = useWords().me.factors
  const act = useAct()
  const [isOpen, setOpen] = useState(false)
  const replace = () =>
    act.run(async () => {
      const { recovery_codes } = await replaceRecoveryCodes()
      onReplaced(recovery_codes)
      await refresh()
    })
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p>{words.codesLeft(count)}</p>
        <Button onClick={() => setOpen(true)}>{words.replaceCodes}</Button>
      </div>
      <ActProblem act={act} />
      {isOpen && (
        <Confirm
          title={words.replaceTitle}
          consequences={words.replaceConsequences}
          act={words.replaceCodes}
          close={() => setOpen(false)}
          run={replace}
        />
      )}
    </>
  )
}
