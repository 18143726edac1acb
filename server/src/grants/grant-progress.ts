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

/** Where to look for what was done with a grant whose sessions are to be audited. */
export const SessionRecord = Type.Optional(
  Type.Object(
    {
      recorded_as: Nullable(
        Type.String({
          description:
            'under which name the target’s own log has it, `…*` where the name goes on: in AWS, the role in CloudTrail’s ' +
            '`sessionIssuer`; null: its target keeps no such log, or nobody knows',
        }),
      ),
      from: DateTime,
      until: Nullable(
        Type.String({
          format: 'date-time',
          description:
            'nothing was done later; null: it is being taken away still, or nobody knows how long sessions live on',
        }),
      ),
    },
    { title: 'SessionRecord', description: 'of a grant whose sessions are to be audited, once it was active' },
  ),
)

/** What the ledger has of a grant; moments as the database's JSON has them. */
export type ProgressRow = {
  status: string
  provisioning_status: string
  since: string
  now: string
  activated_at: string | null
  expires_at: string | null
  is_audited: boolean
  reference: string | null
  failures: number
  last_error: string | null
  /** Its entitlement; null until its target is known. */
  at_target: AtTarget | null
}

type AtTarget = {
  provisioner_id: string | null
  provisioner: string
  name: string | null
  act: 'grant' | 'revoke' | null
  reference: string | null
  failures: number
  last_error: string | null
  drift: Drift | null
  drifted_at: string | null
  session_seconds: number | null
  recorded_as: string | null
}

/** How a grant stands with its target, as far as anybody knows. */
export function progressOf(row: ProgressRow): {
  provisioning: Static<typeof Provisioning>
  sessions_may_live_until?: string | null
  session_record?: Static<typeof SessionRecord>
} {
  const { at_target } = row
  const step = stepOf(row)
  // What the entitlement goes through else is another grant's.
  const turn = step === 'giving' || step === 'taking_away' || step === 'drifted' ? at_target : null
  const drifted_at = text(at_target?.drifted_at ?? row.since)
  const until = sessionsUntil(row, step)
  return {
    provisioning: {
      provisioner: at_target && { id: at_target.provisioner_id, type: at_target.provisioner, name: at_target.name },
      step,
      since: step === 'drifted' ? drifted_at : text(row.since),
      target_request_id: turn?.reference ?? row.reference,
      failures: step === 'planning' ? row.failures : (turn?.failures ?? 0),
      last_error: turn?.last_error ?? row.last_error,
      drift: at_target?.drift ? { kind: at_target.drift, since: drifted_at } : null,
    },
    ...(until !== undefined && { sessions_may_live_until: until }),
    ...(row.is_audited && row.activated_at !== null && { session_record: recordOf(row, row.activated_at, step) }),
  }
}

function stepOf({ status, provisioning_status, expires_at, at_target }: ProgressRow): Step {
  if (status === 'pending') {
    if (at_target === null) return 'planning'
    return provisioning_status === 'attempting' ? 'giving' : 'waiting'
  }
  if (at_target !== null && at_target.drift !== null) return 'drifted'
  if (status === 'active') return 'held'
  if (provisioning_status === 'not_attempted') return expires_at === null ? 'not_given' : 'left'
  if (provisioning_status === 'failed') return at_target?.act === 'revoke' ? 'taking_away' : 'not_given'
  return provisioning_status === 'deprovisioned' ? 'gone' : 'taking_away'
}

/** When the last session is issued: until the access is gone, whenever it should have been; null while that is not known. */
function lastIssued({ status, expires_at, since }: ProgressRow, step: Step): string | null {
  if (status === 'active') return expires_at
  return step === 'gone' ? since : null
}

/** Until when a session of that moment may live on, in milliseconds. */
function sessionEnd(issued: string, session_seconds: number): number {
  return Date.parse(issued) + session_seconds * 1_000
}

/** Undefined where none lives on. */
function sessionsUntil(row: ProgressRow, step: Step): string | null | undefined {
  const { expires_at, provisioning_status, at_target, now } = row
  if (expires_at === null || at_target === null || provisioning_status === 'not_attempted') return undefined
  if (at_target.session_seconds === null) return null
  if (at_target.session_seconds === 0) return undefined
  const until = sessionEnd(lastIssued(row, step) ?? now, at_target.session_seconds)
  return until > Date.parse(now) ? new Date(until).toISOString() : undefined
}

function recordOf(row: ProgressRow, activated_at: string, step: Step): Static<typeof SessionRecord> {
  const { recorded_as = null, session_seconds = null } = row.at_target ?? {}
  const last = lastIssued(row, step)
  const until = last === null || session_seconds === null ? null : sessionEnd(last, session_seconds)
  return { recorded_as, from: text(activated_at), until: until === null ? null : new Date(until).toISOString() }
}

/** As answers have moments. */
function text(moment: string): string {
  return new Date(moment).toISOString()
}
