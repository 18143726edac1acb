import { type Static, Type } from 'typebox'
import { DateTime, Nullable, OneOf, Uuid } from '../http/schema.ts'
import { type Drift, drifts } from './entitlement.ts'

/** At which step a grant is, between its approval and the last trace of it at its target. */
const stepTable = {
  planning: 'its target is being asked what it means there',
  waiting: 'it waits for its turn',
  giving: 'it is being given',
  held: 'it is there, as the target said when it was last looked at',
  taking_away: 'it is being taken away',
  gone: 'it is not there any more, or is held by another grant alone',
  not_given: 'it ended before it was given',
  left: 'it was there before, and stays',
  drifted: 'it was changed at the target by hand',
} as const
type Step = keyof typeof stepTable

export const Provisioning = Type.Object(
  {
    provisioner: Nullable(
      Type.Object(
        { id: Nullable(Uuid), type: Type.String(), name: Nullable(Type.String()) },
        { description: 'null until its target is known; without an id: the sandbox, which gives access to nothing' },
      ),
    ),
    step: OneOf(Object.keys(stepTable) as Step[], {
      description: Object.entries(stepTable)
        .map(([step, means]) => `\`${step}\`: ${means}`)
        .join('; '),
    }),
    since: DateTime,
    target_request_id: Nullable(Type.String({ description: 'the target’s own name for what was last asked of it' })),
    failures: Type.Integer({ description: 'how often the step has failed so far; it is tried on' }),
    last_error: Nullable(Type.String({ description: 'what its target last answered instead, in words' })),
    drift: Nullable(
      Type.Object(
        { kind: OneOf(drifts), since: DateTime },
        { description: '`removed` by hand while it was held, or `added` by hand after it was gone' },
      ),
    ),
  },
  { title: 'Provisioning' },
)

export const sessionsMayLiveUntil = Type.Optional(
  Nullable(
    Type.String({
      format: 'date-time',
      description:
        'until when a session that was issued at the last moment may live on; null: nobody knows; left out: none lives on',
    }),
  ),
)

/** What the ledger has of a grant; moments in milliseconds since 1970, as the database's JSON has them. */
export type ProgressRow = {
  status: string
  provisioning_status: string
  since_ms: number
  now_ms: number
  expires_ms: number | null
  reference: string | null
  failures: number
  last_error: string | null
  /** Null until its target is known. */
  provisioner: { id: string | null; type: string; name: string | null } | null
  /** Of its entitlement. */
  act: 'grant' | 'revoke' | null
  act_reference: string | null
  act_failures: number | null
  act_error: string | null
  drift: Drift | null
  drifted_ms: number | null
  session_seconds: number | null
}

/** How a grant stands with its target, as far as anybody knows. */
export function progressOf(row: ProgressRow): {
  provisioning: Static<typeof Provisioning>
  sessions_may_live_until?: string | null
} {
  const step = stepOf(row)
  const isUnderWay = step === 'giving' || step === 'taking_away' || step === 'drifted'
  const until = sessionsUntil(row, step)
  return {
    provisioning: {
      provisioner: row.provisioner,
      step,
      since: text(step === 'drifted' ? (row.drifted_ms ?? row.since_ms) : row.since_ms),
      target_request_id: (isUnderWay ? row.act_reference : null) ?? row.reference,
      failures: step === 'planning' ? row.failures : isUnderWay ? (row.act_failures ?? 0) : 0,
      last_error: (isUnderWay ? row.act_error : null) ?? row.last_error,
      drift: row.drift === null ? null : { kind: row.drift, since: text(row.drifted_ms ?? row.since_ms) },
    },
    ...(until !== undefined && { sessions_may_live_until: until }),
  }
}

function stepOf({ status, provisioning_status, provisioner, act, drift, expires_ms }: ProgressRow): Step {
  if (status === 'pending') {
    if (provisioner === null) return 'planning'
    return provisioning_status === 'attempting' ? 'giving' : 'waiting'
  }
  if (drift !== null) return 'drifted'
  if (status === 'active') return 'held'
  if (provisioning_status === 'not_attempted') return expires_ms === null ? 'not_given' : 'left'
  if (provisioning_status === 'failed') return act === 'revoke' ? 'taking_away' : 'not_given'
  return provisioning_status === 'deprovisioned' ? 'gone' : 'taking_away'
}

/** Sessions are issued until the access is gone, whenever it should have been; undefined where none lives on. */
function sessionsUntil(row: ProgressRow, step: Step): string | null | undefined {
  const { expires_ms, provisioning_status, session_seconds, now_ms } = row
  if (expires_ms === null || provisioning_status === 'not_attempted') return undefined
  if (session_seconds === null) return null
  if (session_seconds === 0) return undefined
  const isLive = row.status === 'active'
  const lastIssued = isLive ? expires_ms : step === 'gone' ? row.since_ms : now_ms
  const until = lastIssued + session_seconds * 1_000
  return until > now_ms ? text(until) : undefined
}

function text(ms: number): string {
  return new Date(ms).toISOString()
}
