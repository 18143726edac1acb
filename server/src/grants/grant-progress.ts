import { type Static, Type } from 'typebox'
import { DateTime, Nullable, OneOf, Uuid } from '../http/schema.ts'
import { type Drift, drifts } from './entitlement.ts'

/** The steps of a grant, from its approval until its last trace at its target is gone. */
const stepTable = {
  planning: 'Sallyport asks the target what the grant means there',
  waiting: 'the grant waits to be processed',
  giving: 'the access is being given',
  held: 'the access is at the target, as of the last check',
  taking_away: 'the access is being revoked',
  gone: 'the access is no longer at the target, or only another grant holds it',
  not_given: 'the grant ended before its access was given',
  left: 'the access was there before the grant, and stays',
  drifted: 'the access was changed at the target by hand',
} as const
type Step = keyof typeof stepTable

export const Provisioning = Type.Object(
  {
    provisioner: Nullable(
      Type.Object(
        { id: Nullable(Uuid), type: Type.String(), name: Nullable(Type.String()) },
        { description: 'null until the target is known; without an id: the sandbox, which gives access to nothing' },
      ),
    ),
    step: OneOf(Object.keys(stepTable) as Step[], {
      description: Object.entries(stepTable)
        .map(([step, meaning]) => `\`${step}\`: ${meaning}`)
        .join('; '),
    }),
    since: DateTime,
    target_request_id: Nullable(Type.String({ description: 'the target’s own id of the last request to it' })),
    failures: Type.Integer({ description: 'how often the step has failed so far; Sallyport retries it' }),
    last_error: Nullable(
      Type.String({
        description:
          'the last error message of the target; or why the step waits, which counts as no failure, such as that AWS throttles the calls',
      }),
    ),
    drift: Nullable(
      Type.Object(
        { kind: OneOf(drifts), since: DateTime },
        { description: '`removed`: by hand while the grant held it; `added`: by hand after it was gone' },
      ),
    ),
  },
  { title: 'Provisioning' },
)

export const gone = Type.Optional(
  Type.Boolean({
    description:
      'of a grant that has ended: whether its access is no longer at the target, as of the last check. `false`: it still is, whatever ' +
      '`status` says; `provisioning` says why',
  }),
)

export const sessionsMayLiveUntil = Type.Optional(
  Nullable(
    Type.String({
      format: 'date-time',
      description:
        'until when a session that was issued at the last moment may stay valid; null: not known; left out: no session stays valid',
    }),
  ),
)

export const sessionsNote = Type.Optional(
  Type.String({
    description:
      'why sessions stay valid after the end, when they should have been ended with it; left out: there is nothing to explain',
  }),
)

/** Where an auditor finds the actions of a grant whose sessions are to be audited. */
export const SessionRecord = Type.Optional(
  Type.Object(
    {
      recorded_as: Nullable(
        Type.String({
          description:
            'the name of the sessions in the target’s own log, with `…*` if the name continues: in AWS, the role in CloudTrail’s ' +
            '`sessionIssuer`; null: the target keeps no such log, or the name is not known',
        }),
      ),
      from: DateTime,
      until: Nullable(
        Type.String({
          format: 'date-time',
          description:
            'no action is later than this; null: the access is still being revoked, or the lifetime of sessions is not known',
        }),
      ),
    },
    { title: 'SessionRecord', description: 'present for a grant whose sessions are to be audited, once it was active' },
  ),
)

/** The ledger's facts about a grant; timestamps are in the format of the database's JSON. */
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
  /** Nothing is at the target, as of the last check, and no act is under way. */
  is_absent: boolean
  reference: string | null
  failures: number
  last_error: string | null
  drift: Drift | null
  drifted_at: string | null
  session_seconds: number | null
  session_note: string | null
  recorded_as: string | null
}

/** The state of a grant at its target, as far as it is known. */
export function progressOf(row: ProgressRow): {
  provisioning: Static<typeof Provisioning>
  gone?: boolean
  sessions_may_live_until?: string | null
  sessions_note?: string
  session_record?: Static<typeof SessionRecord>
} {
  const { at_target } = row
  const step = stepOf(row)
  // In any other step, the entitlement's act and error concern another grant.
  const current = step === 'giving' || step === 'taking_away' || step === 'drifted' ? at_target : null
  const drifted_at = text(at_target?.drifted_at ?? row.since)
  const until = sessionsUntil(row, step)
  const note = step === 'gone' && until !== undefined ? at_target?.session_note : null
  return {
    provisioning: {
      provisioner: at_target && { id: at_target.provisioner_id, type: at_target.provisioner, name: at_target.name },
      step,
      since: step === 'drifted' ? drifted_at : text(row.since),
      target_request_id: current?.reference ?? row.reference,
      failures: step === 'planning' ? row.failures : (current?.failures ?? 0),
      last_error: current?.last_error ?? row.last_error,
      drift: at_target?.drift ? { kind: at_target.drift, since: drifted_at } : null,
    },
    ...(hasEnded(row) && { gone: isGone(row, step) }),
    ...(until !== undefined && { sessions_may_live_until: until }),
    ...(typeof note === 'string' && { sessions_note: note }),
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

function hasEnded({ status }: ProgressRow): boolean {
  return status !== 'pending' && status !== 'active'
}

/** Whether an ended grant has left nothing at its target. Access that was there before it stays, and that another grant holds is that one's. */
function isGone({ provisioning_status, at_target }: ProgressRow, step: Step): boolean {
  if (step === 'not_given') return provisioning_status === 'not_attempted' || at_target === null || at_target.is_absent
  if (step !== 'drifted') return step === 'gone'
  return at_target?.drift === 'removed' && provisioning_status === 'deprovisioned'
}

/** When the last session can be issued: when the access is gone, even if that is late; null while not known. */
function lastIssued({ status, expires_at, since }: ProgressRow, step: Step): string | null {
  if (status === 'active') return expires_at
  return step === 'gone' ? since : null
}

/** Until when a session issued at that moment may stay valid, in milliseconds. */
function sessionEnd(issued: string, session_seconds: number): number {
  return Date.parse(issued) + session_seconds * 1_000
}

/** Undefined if no session stays valid. */
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

/** A timestamp in the format of replies. */
function text(moment: string): string {
  return new Date(moment).toISOString()
}
