import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useMe } from '../me/me.ts'
import { Problem } from '../parts/problem.tsx'
import { useSettled } from '../parts/settled.ts'
import { now } from '../time/clock.ts'
import { useFormats } from '../time/formats.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import type { Draft } from './draft.ts'
import { gainsLines } from './gains.ts'
import { gainsQuery } from './queries.ts'
import type { Template } from './templates.ts'

/** A rule that holds from a later moment on holds from another minute. */
const laterMs = 60_000

type GainsLinesProps = {
  /** Undefined while the sentence is no rule. */
  draft: Draft | undefined
  template: Template
}

/** Who gains by the rule, before it is added. Its height is fixed, so that nothing jumps. */
export function GainsLines(props: GainsLinesProps): ReactNode {
  const { scopes } = useMe()
  const words = useSetUpWords().rules.gains
  const isAllowed = ['policies:read', 'users:read', 'groups:read', 'cloud_accounts:read'].every((scope) =>
    scopes.includes(scope),
  )
  return (
    <div className="grid content-start gap-1">
      <h4 className="text-body font-medium">{words.title}</h4>
      {/* What a phone shows in four lines, a wide page shows in two. */}
      <div aria-live="polite" className="grid min-h-20 content-start gap-1 sm:min-h-10">
        {isAllowed ? <Lines {...props} /> : <p className="sound-width text-text-2">{words.notYours}</p>}
      </div>
    </div>
  )
}

function Lines({ draft, template }: GainsLinesProps): ReactNode {
  const words = useSetUpWords()
  const formats = useFormats()
  const wanted = draft === undefined ? '' : JSON.stringify(draft)
  const settled = useSettled(wanted)
  const { data, error, isPlaceholderData } = useQuery({
    ...gainsQuery(JSON.parse(settled || '{"changes":[]}') as Draft),
    enabled: settled !== '',
    placeholderData: keepPreviousData,
  })
  if (draft === undefined) return null
  if (error !== null) return <Problem error={error} />
  if (data === undefined) return <p className="text-text-2">{words.rules.gains.asking}</p>
  const isLater = Date.parse(data.at) - now() > laterMs
  const lines = gainsLines(data, template, words, isLater ? formats.moment(data.at, now()) : undefined)
  const isOld = isPlaceholderData || settled !== wanted
  return lines.map((line) => (
    <p key={line} className={`sound-width wrap-anywhere ${isOld ? 'opacity-60' : ''}`}>
      {line}
    </p>
  ))
}
