import { Check, Circle } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Grant } from '../access/grant.ts'
import { Copy } from '../parts/copy.tsx'
import { Section } from '../parts/page.tsx'
import { now } from '../time/clock.ts'
import { Moment } from '../time/moment.tsx'
import { useWords } from '../words/words.ts'
import { nameOf, type RequestDetail, readableId } from './request.ts'
import { timelineOf } from './timeline.ts'

type Part = { request: RequestDetail }

/** What the action means, where an administrator described it. */
export function Allows({ request }: Part): ReactNode {
  const { detail } = useWords().requests
  return (
    <Section title={detail.allows}>
      <p className="sound-width wrap-anywhere">
        <strong className="font-medium">{request.action}</strong>
        {': '}
        {request.action_description ?? <span className="text-text-2">{detail.noDescription}</span>}
      </p>
    </Section>
  )
}

const recentDays = 30

/** For who may decide: what the requester asked for before. */
export function About({ request }: Part): ReactNode {
  const words = useWords()
  const { detail } = words.requests
  const { recent, requester_groups } = request
  if (recent === undefined || requester_groups === undefined) return null
  const facts = [
    detail.recent(recent.same_requests, recentDays),
    detail.denied(recent.denied),
    recent.usual_duration_seconds === null ? '' : detail.usually(words.time.duration(recent.usual_duration_seconds)),
  ]
  return (
    <Section title={detail.about(request.requester_name)}>
      <p className="sound-width wrap-anywhere">{detail.groups(requester_groups)}</p>
      <p className="sound-width">{facts.filter((fact) => fact !== '').join(', ')}</p>
    </Section>
  )
}

export function WhyApproval({ request }: Part): ReactNode {
  const { detail } = useWords().requests
  if (request.policy_name == null) return null
  return (
    <Section title={detail.why}>
      <p className="sound-width wrap-anywhere">{detail.policy(request.policy_name)}</p>
    </Section>
  )
}

export function Timeline({ request, grants }: Part & { grants: readonly Grant[] }): ReactNode {
  const words = useWords()
  const steps = timelineOf(request, grants, now(), words)
  return (
    <Section title={words.requests.detail.timeline}>
      <ol className="grid gap-2">
        {steps.map(({ at, text, isPast, note }) => {
          const Icon = isPast ? Check : Circle
          return (
            <li key={`${at} ${text}`} className="grid grid-cols-[16px_1fr] gap-x-2">
              <Icon
                size={16}
                strokeWidth={1.75}
                aria-hidden="true"
                className={`mt-0.5 ${isPast ? 'text-ok' : 'text-text-3'}`}
              />
              <p className="min-w-0 wrap-anywhere">
                {text}{' '}
                <span className="text-text-2">
                  <Moment at={at} />
                </span>
              </p>
              {note !== undefined && (
                <p className="col-start-2 text-text-2 whitespace-pre-line wrap-anywhere">{note}</p>
              )}
            </li>
          )
        })}
      </ol>
    </Section>
  )
}

/** Ids, for those who look them up elsewhere. */
export function Facts({ request }: Part): ReactNode {
  const { detail } = useWords().requests
  const words = useWords()
  const metadata = Object.entries(request.metadata ?? {})
  const facts = [
    [detail.resource, `${nameOf(request)} · ${readableId(request.resource.id)}`],
    [detail.id, request.id],
    ...metadata.map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)] as const),
  ] as const
  return (
    <details>
      <summary className="w-fit rounded-control font-semibold">{detail.details}</summary>
      <dl className="mt-2 grid gap-2">
        {facts.map(([label, text]) => (
          <div key={label}>
            <dt className="text-meta text-text-2">{label}</dt>
            <dd className="flex items-center gap-1 font-mono text-meta wrap-anywhere">
              {text}
              {label === detail.id && <Copy text={text} label={words.actions.copy(label)} />}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
