import { Refusal } from '@sallyport/client'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useAct } from '../parts/act.ts'
import { toast } from '../parts/announcer.tsx'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Problem } from '../parts/problem.tsx'
import { now } from '../time/clock.ts'
import { useFormats } from '../time/formats.ts'
import { useTick } from '../time/ticks.ts'
import { useWords } from '../words/words.ts'
import { cancelRequest, remindDeciders } from './queries.ts'
import type { AccessRequest } from './request.ts'

/** The service reminds once in so many seconds. */
const remindSeconds = 600

/** Reminds those who may decide; while that was done a moment ago, says so instead. */
export function RemindDeciders({ request }: { request: Pick<AccessRequest, 'id' | 'reminded_at'> }): ReactNode {
  const { detail } = useWords().requests
  const formats = useFormats()
  const queries = useQueryClient()
  const act = useAct()
  const { reminded_at } = request
  const next = reminded_at === null ? 0 : Date.parse(reminded_at) / 1_000 + remindSeconds
  const waits = useTick((seconds) => seconds < next)
  if (waits && reminded_at !== null)
    return <span className="text-text-2">{detail.reminded(formats.moment(reminded_at, now()))}</span>
  const remind = () =>
    act.run(async () => {
      const isReminded = await remindDeciders(request.id).then(() => true, unlessReminded)
      if (isReminded) toast(detail.remindedNow)
      await queries.invalidateQueries({ queryKey: ['request'] })
    })
  return (
    <>
      <Button isPending={act.isPending} onClick={remind}>
        {detail.remind}
      </Button>
      {act.error !== undefined && <Problem error={act.error} />}
    </>
  )
}

/** Another window was faster. */
function unlessReminded(error: unknown): false {
  if (error instanceof Refusal && error.status === 429) return false
  throw error
}

/** Gives up a request that waits. */
export function CancelRequest({ id }: { id: string }): ReactNode {
  const { detail } = useWords().requests
  const queries = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button look="quiet" onClick={() => setOpen(true)}>
        {detail.cancel}
      </Button>
      {isOpen && (
        <Confirm
          title={detail.cancelTitle}
          consequences={detail.cancelConsequences}
          act={detail.cancel}
          close={() => setOpen(false)}
          run={async () => {
            await cancelRequest(id)
            toast(detail.wasCancelled)
            await queries.invalidateQueries({ queryKey: ['request'] })
          }}
        />
      )}
    </>
  )
}
