import { type EventType, eventTable } from '../../src/events/catalogue.ts'
import type {
  Access,
  GrantEvent,
  GrantFacts,
  RecordEvent,
  RecordFacts,
  RequestEvent,
  RequestFacts,
} from '../../src/messages/event-facts.ts'
import type { Message } from '../../src/messages/message.ts'
import {
  grantMessage,
  isGrantEvent,
  isRecordEvent,
  isRequestEvent,
  recordMessage,
  requestMessage,
} from '../../src/messages/message-table.ts'
import { connectOf } from '../../src/provisioners/connect.ts'
import { sampleId as id, recordSamplesByEvent } from './sample-records.ts'

const event = { at: '2026-03-01T08:05:09.120Z', zone: 'Europe/Berlin', subject_id: id, data: {} } as const

const access: Access = {
  action: 'ReadOnlyAccess',
  resource_type: 'cloud_account',
  resource_id: '123456789012',
  accounts: [{ account_id: '123456789012', name: 'Production' }],
  account_count: 1,
}

const ada = { name: 'Ada Lovelace', email: 'ada@example.com' }

export const sampleRequest: RequestFacts = {
  ...event,
  ...access,
  actor: 'Ada Lovelace',
  requester: ada,
  is_own: true,
  reason: 'look at the logs of INC-42',
  asked_at: '2026-03-01T08:05:09.120Z',
  duration_seconds: 5_400,
  approved_duration_seconds: null,
  is_extension: false,
  approval_mode: 'require',
  status: 'pending',
  waits_until: '2026-03-02T08:05:09.120Z',
  decided_by: null,
  decision_reasoning: null,
  comment: null,
  audit_session: false,
}

/** One set of facts for an event, or several if its message varies. */
export type Samples<Facts> = Readonly<Record<string, Partial<Facts> | Partial<Facts>[]>>

const settled = { waits_until: null, actor: 'Grace Hopper', is_own: false } as const
const requests: Samples<RequestFacts> = {
  'request.created': [{}, { is_extension: true }, { approval_mode: 'auto', status: 'approved', waits_until: null }],
  'request.break_glass': { approval_mode: 'break_glass', status: 'approved', waits_until: null, audit_session: true },
  'request.approved': [
    { ...settled, status: 'approved', decided_by: 'Grace Hopper', decision_reasoning: 'go ahead' },
    {
      ...settled,
      status: 'approved',
      decided_by: 'Grace Hopper',
      approved_duration_seconds: 1_800,
      is_extension: true,
    },
  ],
  'request.denied': { ...settled, status: 'denied', decided_by: 'Grace Hopper', decision_reasoning: 'ask for less' },
  'request.expired': { ...settled, status: 'expired', actor: 'Sallyport' },
  'request.cancelled': [
    { ...settled, status: 'cancelled', is_own: true, actor: 'Ada Lovelace' },
    { ...settled, status: 'cancelled', data: { reason: 'the user was deactivated' } },
  ],
  'request.commented': [
    { comment: 'The ticket is INC-42.' },
    { actor: 'Grace Hopper', is_own: false, comment: 'Which ticket is this for?' },
  ],
  'request.reminded': [{ actor: 'Sallyport', is_own: false, data: { nth: 2 } }, {}],
}

export const sampleGrant: GrantFacts = {
  ...event,
  ...access,
  actor: 'Sallyport',
  holder: ada,
  permission_set: null,
  is_own: false,
  reason: 'look at the logs of INC-42',
  status: 'active',
  provisioning_status: 'successful',
  expires_at: '2026-03-01T09:35:09.120Z',
  extended_until: null,
  extension: null,
  end_reason: null,
  last_error: null,
  provisioner: 'AWS of Acme',
  corrects_drift: false,
  connect: connectOf({
    kind: 'aws',
    summary: 'Sign in at the AWS access portal.',
    fields: [['Account', '123456789012']],
    links: [{ label: 'AWS access portal', url: 'https://acme.awsapps.com/start' }],
    commands: [{ label: 'sign in', words: ['aws', 'sso', 'login', '--profile', 'ReadOnlyAccess-123456789012'] }],
    files: [
      {
        label: 'the profile',
        path: '~/.aws/config',
        lines: ['[profile ReadOnlyAccess-123456789012]', 'region = eu-central-1'],
      },
    ],
  }),
}

const grants: Samples<GrantFacts> = {
  'grant.expiring': [{ extension: 'possible' }, { extension: 'waits' }, {}],
  'grant.expired': [
    { status: 'expired', provisioning_status: 'deprovisioning' },
    { status: 'expired', provisioning_status: 'deprovisioned', extended_until: '2026-03-01T10:35:09.120Z' },
  ],
  'grant.revoked': {
    ...{ status: 'revoked', provisioning_status: 'deprovisioning' },
    ...{ actor: 'Grace Hopper', end_reason: 'the incident is over' },
  },
  'grant.failed': [
    {
      ...{ status: 'failed', provisioning_status: 'failed', expires_at: null },
      ...{ end_reason: 'its target refused it', last_error: 'no such permission set' },
    },
    {
      ...{ status: 'revoked', provisioning_status: 'deprovisioning_failed' },
      ...{ last_error: 'the role may not delete assignments' },
    },
    {
      ...{ status: 'failed', provisioning_status: 'deprovisioning_failed', expires_at: null },
      ...{ last_error: 'the role may not delete assignments' },
    },
  ],
  'grant.credentials_issued': { data: { login: 'ada_019f4a3b5c6d7e8f9a0b1c2d3e4f5a6b' } },
  'grant.objects_left': {
    ...{ status: 'expired', provisioning_status: 'deprovisioning' },
    data: {
      total: 2,
      objects: [
        { kind: 'table', name: 'public.scratch' },
        { kind: 'function', name: 'public.tidy()' },
      ],
    },
  },
  'grant.drifted': [
    { data: { drift: 'removed' }, corrects_drift: true },
    { data: { drift: 'added' }, status: 'expired' },
  ],
}

export function requestSamples(type: RequestEvent): RequestFacts[] {
  return [requests[type] ?? {}].flat().map((own) => ({ ...sampleRequest, ...own }))
}

export function grantSamples(type: GrantEvent): GrantFacts[] {
  return [grants[type] ?? {}].flat().map((own) => ({ ...sampleGrant, ...own }))
}

export function recordSamples(type: RecordEvent): RecordFacts[] {
  const names = { people: { [id]: 'Bob Kahn' }, roles: { approver: 'Approver', user: 'User' } }
  const plain = { ...event, ...names, actor: 'Grace Hopper', subject_type: type.replace(/\..*/, ''), name: 'Engineers' }
  return [recordSamplesByEvent[type] ?? {}].flat().map((own) => ({ ...plain, ...own }))
}

export type MessageEvent = RequestEvent | GrantEvent | RecordEvent

/** Every event that has a message. */
export const messageEvents = (Object.keys(eventTable) as EventType[]).filter(
  (type) => isRequestEvent(type) || isGrantEvent(type) || isRecordEvent(type),
)

type Facts = RequestFacts | GrantFacts | RecordFacts

/** The facts of an event's sample messages. */
export function sampleFacts(type: MessageEvent): Facts[] {
  if (isRequestEvent(type)) return requestSamples(type)
  return isGrantEvent(type) ? grantSamples(type) : recordSamples(type)
}

/** The message about an event, from these facts. */
export function messageWith(type: MessageEvent, facts: Facts): Message {
  if (isRequestEvent(type)) return requestMessage(type, facts as RequestFacts)
  return isGrantEvent(type) ? grantMessage(type, facts as GrantFacts) : recordMessage(type, facts as RecordFacts)
}
