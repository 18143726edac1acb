import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense } from 'react'
import { loadPart } from '../live/load-part.ts'
import { Countdown, RemainingBar } from '../parts/countdown.tsx'
import { EnglishText } from '../parts/english-text.tsx'
import { LoadFailure } from '../parts/list-states.tsx'
import { Card } from '../parts/page.tsx'
import { nameOf, readableId } from '../requests/request.ts'
import { now } from '../time/clock.ts'
import { useFormats } from '../time/formats.ts'
import { useWords } from '../words/words.ts'
import { AccessActs } from './access-acts.tsx'
import { Connect } from './connect.tsx'
import { type Grant, grantState } from './grant.ts'
import { grantQuery } from './queries.ts'
import { StateBadges } from './state-badges.tsx'

/** Few targets make logins. */
const SignInPassword = lazy(() =>
  loadPart(() => import('./sign-in-password.tsx')).then(({ SignInPassword: component }) => ({ default: component })),
)

/** The state of access, as badges. */
export function GrantBadge({ grant }: { grant: Grant }): ReactNode {
  return <StateBadges state={grantState(grant, useWords())} isEmergency={grant.break_glass} />
}

/** Access that the person has: what, for how long still, how to use it, and how to end it. */
export function AccessCard({ grant }: { grant: Grant }): ReactNode {
  const words = useWords().access
  // The detail says whether it can be extended, and how to connect.
  const { data: detail, error, refetch } = useQuery(grantQuery(grant.id))
  return (
    <Card className="grid h-full content-start gap-3">
      <div className="flex flex-wrap items-start justify-between gap-2">
        <div className="min-w-0">
          <h3 className="text-sentence font-semibold wrap-anywhere">
            <Link to="/requests/$id" params={{ id: grant.request_id }} className="rounded-control hover:underline">
              <bdi>{nameOf(grant)}</bdi>
            </Link>
          </h3>
          <p className="text-text-2 wrap-anywhere">
            {grant.action} · <span className="font-mono text-meta">{readableId(grant.resource.id)}</span>
          </p>
        </div>
        <GrantBadge grant={grant} />
      </div>
      <Left grant={grant} />
      {grant.last_error !== null && <LastError text={grant.last_error} />}
      {detail === undefined && error !== null && <LoadFailure error={error} retry={refetch} />}
      {detail !== undefined && (
        <>
          {grant.status === 'active' && <Connect connect={detail.connect} />}
          {detail.connect?.postgresql?.makes_credentials === true && (
            <Suspense>
              <SignInPassword grant={detail} />
            </Suspense>
          )}
          <AccessActs grant={detail} />
        </>
      )}
      {detail?.sessions_may_live_until != null && grant.status !== 'active' && (
        <SessionsUntil at={detail.sessions_may_live_until} note={detail.sessions_note} words={words.sessionsUntil} />
      )}
    </Card>
  )
}

type SessionsProps = { at: string; note: string | undefined; words: (moment: string) => string }

/** `note`: why they were not cut. */
function SessionsUntil({ at, note, words }: SessionsProps): ReactNode {
  const formats = useFormats()
  return (
    <p className="text-meta text-text-2 wrap-anywhere">
      {words(formats.moment(at, now()))} {note !== undefined && <EnglishText>({note})</EnglishText>}
    </p>
  )
}

/** The target's own words about what failed. */
function LastError({ text }: { text: string }): ReactNode {
  const words = useWords().access
  return (
    <p className="wrap-anywhere">
      <span className="text-text-2">{words.lastError}</span> <EnglishText>{text}</EnglishText>
    </p>
  )
}

function Left({ grant }: { grant: Grant }): ReactNode {
  const words = useWords().access
  const formats = useFormats()
  if (grant.status !== 'active' || grant.expires_at === undefined || grant.activated_at === undefined)
    return <p className="text-text-2">{stepOf(grant, words)}</p>
  return (
    <div className="grid gap-1">
      <p className="flex justify-between gap-2">
        <strong className="font-medium">
          <Countdown until={grant.expires_at} of={words.onIt(grant.action, nameOf(grant))} />
        </strong>
        <span className="text-text-2" title={formats.utc(grant.expires_at)}>
          {words.endsAt(formats.moment(grant.expires_at, now()))}
        </span>
      </p>
      <RemainingBar from={grant.activated_at} until={grant.expires_at} />
    </div>
  )
}

/** Where it stands at its target, in words. */
function stepOf({ provisioning }: Grant, words: ReturnType<typeof useWords>['access']): string {
  if (provisioning === null) return words.waitsForStart
  const { step, failures } = provisioning
  return failures === 0 ? words.steps[step] : `${words.steps[step]} (${words.failures(failures)})`
}
