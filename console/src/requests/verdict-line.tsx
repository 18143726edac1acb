import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Check, CircleSlash, Clock } from 'lucide-react'
import type { ReactNode } from 'react'
import { grantQuery } from '../access/queries.ts'
import { Button } from '../parts/button.tsx'
import { EnglishText } from '../parts/english-text.tsx'
import { Notices, Problem } from '../parts/problem.tsx'
import { now } from '../time/clock.ts'
import { useFormats } from '../time/formats.ts'
import { useWords } from '../words/words.ts'
import { previewQuery, type RequestInput } from './queries.ts'
import { type Suggestion, verdictOf } from './verdict.ts'

const icons = { ok: Check, wait: Clock, bad: CircleSlash }
const tones = { ok: 'text-ok', wait: 'text-wait', bad: 'text-bad' }

type VerdictLineProps = { input: RequestInput; apply: (change: Suggestion['change']) => void }

/** The answer before the request is sent. It has room for a line about risk too, so that nothing jumps. */
export function VerdictLine({ input, apply }: VerdictLineProps): ReactNode {
  const words = useWords()
  const { verdict: said } = words.requests
  const { data, error, isPlaceholderData } = useQuery({ ...previewQuery(input), placeholderData: keepPreviousData })
  if (error !== null) return <Problem error={error} />
  if (data === undefined) return <p className="min-h-16 text-text-2">{said.asking}</p>
  const verdict = verdictOf(data, input, words)
  const Icon = icons[verdict.tone]
  const { suggestion } = verdict
  return (
    <div aria-live="polite" className={`grid min-h-16 content-start gap-2 ${isPlaceholderData ? 'opacity-60' : ''}`}>
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1">
        <p className={`flex items-center gap-2 font-medium ${tones[verdict.tone]}`}>
          <Icon size={16} strokeWidth={1.75} aria-hidden="true" className="shrink-0" />
          {verdict.text}
        </p>
        {suggestion !== undefined && <Button onClick={() => apply(suggestion.change)}>{suggestion.text}</Button>}
      </div>
      {data.risk === 'high' && data.allowed && (
        <p className="text-text-2">{words.requests.riskBecause(data.risk_reasons)}</p>
      )}
      <Notices notices={data.notices} />
      {verdict.nearest.length > 0 && (
        <div className="grid gap-1 text-text-2">
          <p>{said.nearest}</p>
          <ul className="list-disc pl-5">
            {verdict.nearest.map((line) => (
              <li key={line} className="wrap-anywhere">
                <EnglishText>{line}</EnglishText>
              </li>
            ))}
          </ul>
        </div>
      )}
      {data.live_grant !== null && <HaveIt id={data.live_grant.id} until={data.live_grant.expires_at} />}
    </div>
  )
}

/** The access that the person has already, and the way to it. */
function HaveIt({ id, until }: { id: string; until: string | null }): ReactNode {
  const { verdict } = useWords().requests
  const formats = useFormats()
  const { data: grant } = useQuery(grantQuery(id))
  return (
    <p className="flex flex-wrap gap-x-2">
      {until === null ? verdict.haveIt : verdict.haveUntil(formats.moment(until, now()))}
      {grant !== undefined && (
        <Link to="/requests/$id" params={{ id: grant.request_id }} className="rounded-control text-accent underline">
          {verdict.show}
        </Link>
      )}
    </p>
  )
}
