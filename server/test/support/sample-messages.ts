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

const id = '01989c5e-7b1a-7c3d-9e2f-4a5b6c7d8e9f'
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
type Samples<Facts> = Readonly<Record<string, Partial<Facts> | Partial<Facts>[]>>

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

const bob = 'Bob Kahn (bob@example.com)'
const moved = { added: ['approver'], removed: ['user'] }

const records: Samples<RecordFacts> = {
  'policy.updated': [
    { data: { change: 'policy_changed', fields: ['enabled', 'name'], enabled: false } },
    { data: { change: 'rule_changed', rule_id: id } },
    {
      data: { change: 'rules_imported', added: { ids: [id], count: 1 }, changed: { count: 2 }, removed: { count: 0 } },
    },
  ],
  'policy.reordered': [
    { subject_type: 'tenant', data: { change: 'policies_reordered', ids: [id], count: 3 } },
    { data: { change: 'rules_reordered', ids: [id], count: 3 } },
  ],
  'policy.cases_changed': { subject_type: 'tenant', data: { count: 12, required: 4 } },
  'policy.deleted': { name: null },
  'action.described': [
    { subject_id: 'ReadOnlyAccess', name: null, data: { old: null, new: 'Sees everything, changes nothing' } },
    { subject_id: 'ReadOnlyAccess', name: null, data: { old: 'Reads', new: 'Sees everything, changes nothing' } },
  ],
  'action.description_removed': { subject_id: 'ReadOnlyAccess', name: null, data: { old: 'Reads' } },
  'role.created': { name: 'Auditors', subject_id: 'auditors', data: { scopes: ['audit:read'] } },
  'role.updated': {
    name: 'Auditors',
    subject_id: 'auditors',
    data: { fields: ['scopes'], scopes_added: ['roles:read'], scopes_removed: ['audit:read'] },
  },
  'role.deleted': { name: null, subject_id: 'auditors' },
  'role.assigned': { subject_type: 'user', name: bob, data: moved },
  'group.created': { name: 'On call', data: { source: 'local' } },
  'group.updated': [
    { name: 'On call', data: { fields: ['description'] } },
    { name: 'On call', data: { fields: ['members_notified'], members_notified: false } },
  ],
  'group.deleted': { name: null },
  'group.member_added': { name: 'On call', data: { user_id: id } },
  'group.member_removed': { name: 'On call', data: { user_id: id } },
  'group.role_mappings_changed': { name: 'On call', data: moved },
  'user.created': { name: bob, data: { roles: ['user'], auth_provider: 'local', is_owner: false } },
  'user.invited': { name: bob, data: { mailed: true } },
  'user.joined': [
    { name: bob, data: { way: 'password', proves_address: true } },
    { name: bob, data: { way: 'provider', proves_address: false } },
  ],
  'user.linked': { name: bob, data: { issuer: 'https://login.example.com' } },
  'user.updated': { name: bob, data: { fields: ['name'] } },
  'user.deactivated': { name: bob },
  'user.reactivated': { name: bob },
  'user.refresh_token_reused': {
    name: bob,
    data: { source_ip: '203.0.113.9', used_from: '192.0.2.1', used_at: '2026-03-01T08:05:09.120Z' },
  },
  'user.suspended': { name: bob, data: { until: '2026-03-02T08:05:09.120Z' } },
  'user.unsuspended': { name: bob },
  'user.access_ended': { name: bob, data: { requests_cancelled: 1, grants_ended: 3 } },
  'user.removal_refused': { name: bob },
  'user.deleted': { name: bob },
  'api_key.created': {
    name: 'nightly report',
    data: { scopes: ['audit:read'], created_by: id, expires_at: '2026-06-01T00:00:00.000Z' },
  },
  'api_key.revoked': { name: 'nightly report' },
  'setting.updated': [
    { name: null, subject_id: 'requests.max_duration_seconds', data: { old: null, new: '28800' } },
    {
      name: null,
      subject_id: 'sign-in',
      data: { group_mappings: { out_of_effect: [{ value: 'eng', group_id: id }] } },
    },
  ],
  'cloud_accounts.updated': {
    subject_type: 'tenant',
    data: { upserted: 2, ids: ['prod', 'staging'], changed: ['prod'], changed_count: 1 },
  },
  'cloud_accounts.discovered': {
    subject_type: 'tenant',
    data: { provisioner_id: id, added: 1, changed: 1, removed: 0, ids: ['123456789012', '210987654321'] },
  },
  'notification_channel.created': {
    name: 'On call',
    data: { channel_type: 'email', event_filters: ['grant.failed'], enabled: true },
  },
  'notification_channel.updated': {
    name: 'On call',
    data: { fields: ['enabled', 'to_addresses'], event_filters: [], enabled: false },
  },
  'notification_channel.deleted': { name: null },
  'notification_channel.disabled': { name: 'Pager' },
  'notification_channel.secret_rotated': { name: 'Pager', data: { overlap_seconds: 86_400 } },
  'notification_channel.tested': { name: 'On call' },
  'identity_provider.created': { name: 'Okta', data: { provider_type: 'directory_a', enabled: true } },
  'identity_provider.updated': { name: 'Okta', data: { fields: ['config', 'enabled'], enabled: false } },
  'identity_provider.deleted': { name: null },
  'identity_provider.conflict_found': { name: 'Okta', data: { user_id: id } },
  'identity_provider.conflict_settled': { name: 'Okta', data: { user_id: null } },
  'identity_provider.mass_removal': { name: 'Okta', data: { removed: 60, size: 287, refused: true } },
  'provisioner.created': {
    name: 'Reports',
    data: { provisioner_type: 'postgresql', enabled: true, corrects_drift: true },
  },
  'provisioner.updated': { name: 'Reports', data: { fields: ['config'] } },
  'provisioner.deleted': { name: null },
  'provisioner.tested': [
    { name: 'Reports', data: { ok: true, failed: 0 } },
    { name: 'Reports', data: { ok: false, failed: 2 } },
  ],
  'provisioner.secret_rotated': { name: 'Reports', data: { names: ['signing_secret'], overlap_seconds: 3_600 } },
  'provisioner.drifted': { name: 'Reports', data: { drift: 'added', found: 1, keys: ['role sp_reader on reports'] } },
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
  return [records[type] ?? {}].flat().map((own) => ({ ...plain, ...own }))
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
