import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ActProblem } from '../me/act-problem.tsx'
import { useMe } from '../me/me.ts'
import { useAct } from '../parts/act.ts'
import { toast } from '../parts/announcer.tsx'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { now } from '../time/clock.ts'
import { useFormats } from '../time/formats.ts'
import { whenOf } from '../time/when.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import type { Directory } from './directory.ts'
import { type ApiKey, keepKey, keysQuery, makeKey, revokeKey } from './key-queries.ts'
import { mayConnect, maySeeKeys } from './rights.ts'

/** The keys by which a directory calls, and a way to make another. */
export function Keys({ directory }: { directory: Directory }): ReactNode {
  const words = useSetUpWords().directories.push
  const me = useMe()
  const sees = maySeeKeys(me)
  const list = useInfiniteQuery({ ...keysQuery(directory.id), enabled: sees })
  const { data, error, refetch } = list
  const keys = data?.pages.flatMap((page) => page.data)
  return (
    <div className="grid gap-3 border-t border-line pt-4">
      <h3 className="font-semibold">{words.keys}</h3>
      {!sees && <p className="text-text-2">{words.keyNoRight}</p>}
      {sees && keys === undefined && (error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />)}
      {keys?.length === 0 && <p className="text-text-2">{words.noKeys}</p>}
      {keys !== undefined && keys.length > 0 && (
        <ul aria-label={words.keys} className="divide-y divide-line">
          {keys.map((key) => (
            <Row key={key.id} apiKey={key} />
          ))}
        </ul>
      )}
      <LoadMore list={list} className="justify-self-start" />
      {mayConnect(me) && <MakeKey directory={directory} hasOne={keys !== undefined && keys.length > 0} />}
    </div>
  )
}

function Row({ apiKey: { id, name, created_at, last_used_at, expires_at } }: { apiKey: ApiKey }): ReactNode {
  const all = useSetUpWords()
  const words = all.directories.push
  const formats = useFormats()
  const queries = useQueryClient()
  const may = useMe().scopes.includes('api_keys:write')
  const [isAsking, ask] = useState(false)
  const at = (moment: string) => whenOf(moment, now(), formats, all)
  const isOver = expires_at !== null && Date.parse(expires_at) <= now()
  const facts = [
    words.madeAt(at(created_at)),
    last_used_at === null ? words.unused : words.usedAt(at(last_used_at)),
    ...(expires_at === null || isOver ? [] : [words.endsAt(at(expires_at))]),
  ]
  const revoke = async () => {
    await revokeKey(id)
    toast(words.revoked)
    await queries.invalidateQueries({ queryKey: ['api_key'] })
  }
  return (
    <li className="flex flex-wrap items-center justify-between gap-2 py-3 first:pt-0 last:pb-0">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2 font-medium wrap-anywhere">
          <bdi>{name}</bdi>
          {isOver && (
            <Badge tone="neutral" icon="minus">
              {words.ended}
            </Badge>
          )}
        </p>
        <p className="text-meta text-text-2 wrap-anywhere">{facts.join(' · ')}</p>
      </div>
      {may && (
        <Button aria-label={words.revokeKey(name)} onClick={() => ask(true)}>
          {words.revoke}
        </Button>
      )}
      {isAsking && (
        <Confirm
          title={words.revokeTitle(name)}
          consequences={words.revokeConsequences}
          act={words.revokeAct}
          close={() => ask(false)}
          run={revoke}
        />
      )}
    </li>
  )
}

function MakeKey({ directory: { id, name }, hasOne }: { directory: Directory; hasOne: boolean }): ReactNode {
  const words = useSetUpWords().directories.push
  const queries = useQueryClient()
  const act = useAct()
  const make = () =>
    act.run(async (key) => {
      keepKey(id, (await makeKey(id, words.keyName(name), key)).key)
      await queries.invalidateQueries({ queryKey: ['api_key'] })
    }, id)
  return (
    <div className="grid justify-items-start gap-3">
      {hasOne && <p className="sound-width text-text-2">{words.two}</p>}
      <Button isPending={act.isPending} onClick={make}>
        {hasOne ? words.makeAnother : words.make}
      </Button>
      <ActProblem act={act} />
    </div>
  )
}
