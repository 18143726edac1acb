import type { Schemas } from '@sallyport/client'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useAct } from '../parts/act.ts'
import { toast } from '../parts/announcer.tsx'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Problem } from '../parts/problem.tsx'
import { nameOf } from '../requests/request.ts'
import { now } from '../time/clock.ts'
import { useFormats } from '../time/formats.ts'
import { useTick } from '../time/ticks.ts'
import { useWords } from '../words/words.ts'
import { Extend } from './extend.tsx'
import { endAccess, retryAccess } from './queries.ts'

type Detail = Schemas['GrantDetail']

/** What a holder can do with their access: extend it, end it, or have a failed start tried again. */
export function AccessActs({ grant }: { grant: Detail }): ReactNode {
  const words = useWords().access
  const queries = useQueryClient()
  const [open, setOpen] = useState<'end' | 'extend'>()
  const name = words.onIt(grant.action, nameOf(grant))
  const refresh = () => queries.invalidateQueries({ queryKey: ['grant'] })
  const isEndable = grant.status === 'active' || grant.status === 'pending'
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center gap-2">
        {isEndable && (
          <Button onClick={() => setOpen('end')} aria-label={`${words.end}: ${name}`}>
            {words.end}
          </Button>
        )}
        {grant.status === 'active' && <ExtendButton grant={grant} open={() => setOpen('extend')} />}
        {grant.status === 'failed' && <Retry id={grant.id} done={refresh} />}
      </div>
      {open === 'extend' && <Extend grant={grant} close={() => setOpen(undefined)} />}
      {open === 'end' && (
        <Confirm
          title={words.endTitle(name)}
          consequences={words.endConsequences}
          act={words.end}
          close={() => setOpen(undefined)}
          run={async () => {
            await endAccess(grant.id)
            toast(words.endedNow)
            await refresh()
          }}
        />
      )}
    </div>
  )
}

/** In place of a button that would do nothing, the reason. */
function ExtendButton({ grant, open }: { grant: Detail; open: () => void }): ReactNode {
  const words = useWords().access
  const formats = useFormats()
  const { extendable, extended_by } = grant
  const from = extendable === null ? 0 : Date.parse(extendable.from) / 1_000
  const isOpen = useTick((seconds) => seconds >= from)
  if (extended_by !== null)
    return (
      <Link
        to="/requests/$id"
        params={{ id: extended_by.request_id }}
        className="rounded-control text-accent hover:underline"
      >
        {extended_by.until === null
          ? words.extensionWaits
          : words.extendedUntil(formats.moment(extended_by.until, now()))}
      </Link>
    )
  if (extendable === null) return null
  if (!isOpen)
    return <span className="text-meta text-text-2">{words.extendFrom(formats.moment(extendable.from, now()))}</span>
  return (
    <Button onClick={open} aria-label={words.extending(words.onIt(grant.action, nameOf(grant)))}>
      {words.extend}
    </Button>
  )
}

function Retry({ id, done }: { id: string; done: () => Promise<unknown> }): ReactNode {
  const words = useWords().access
  const act = useAct()
  const retry = () => act.run(() => retryAccess(id).then(done))
  return (
    <>
      <Button isPending={act.isPending} onClick={retry}>
        {words.retry}
      </Button>
      {act.error !== undefined && <Problem error={act.error} />}
    </>
  )
}
