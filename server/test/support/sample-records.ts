import type { RecordFacts } from '../../src/messages/event-facts.ts'
import type { Samples } from './sample-messages.ts'

export const sampleId = '01989c5e-7b1a-7c3d-9e2f-4a5b6c7d8e9f'
const bob = 'Bob Kahn (bob@example.com)'
const moved = { added: ['approver'], removed: ['user'] }

/** Facts of each event about a record. */
export const recordSamplesByEvent: Samples<RecordFacts> = {
  'policy.updated': [
    { data: { change: 'policy_changed', fields: ['enabled', 'name'], enabled: false } },
    { data: { change: 'rule_changed', rule_id: sampleId } },
    {
      data: {
        change: 'rules_imported',
        added: { ids: [sampleId], count: 1 },
        changed: { count: 2 },
        removed: { count: 0 },
      },
    },
  ],
  'policy.reordered': [
    { subject_type: 'tenant', data: { change: 'policies_reordered', ids: [sampleId], count: 3 } },
    { data: { change: 'rules_reordered', ids: [sampleId], count: 3 } },
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
  'group.member_added': { name: 'On call', data: { user_id: sampleId } },
  'group.member_removed': { name: 'On call', data: { user_id: sampleId } },
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
    data: { scopes: ['audit:read'], created_by: sampleId, expires_at: '2026-06-01T00:00:00.000Z' },
  },
  'api_key.revoked': { name: 'nightly report' },
  'setting.updated': [
    { name: null, subject_id: 'requests.max_duration_seconds', data: { old: null, new: '28800' } },
    {
      name: null,
      subject_id: 'sign-in',
      data: { group_mappings: { out_of_effect: [{ value: 'eng', group_id: sampleId }] } },
    },
  ],
  'cloud_accounts.updated': {
    subject_type: 'tenant',
    data: { upserted: 2, ids: ['prod', 'staging'], changed: ['prod'], changed_count: 1 },
  },
  'cloud_accounts.discovered': {
    subject_type: 'tenant',
    data: { provisioner_id: sampleId, added: 1, changed: 1, removed: 0, ids: ['123456789012', '210987654321'] },
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
  'identity_provider.conflict_found': { name: 'Okta', data: { user_id: sampleId } },
  'identity_provider.conflict_settled': { name: 'Okta', data: { user_id: null } },
  'identity_provider.mass_removal': { name: 'Okta', data: { removed: 60, size: 287, refused: true } },
  'identity_provider.sync_requested': { name: 'Okta', data: { dry_run: true, confirms: null } },
  'identity_provider.synced': { name: 'Okta', data: { run_id: sampleId, counts: { added: 6, disabled: 1 } } },
  'identity_provider.sync_failed': {
    name: 'Okta',
    data: { run_id: sampleId, error: 'the directory did not answer within 120 s' },
  },
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
  'provisioner.orphans_held_back': { name: 'Reports', data: { found: 31, limit: 20 } },
  'provisioner.orphan_ending': {
    name: 'Reports',
    data: { orphan_id: '01890a5d-ac96-774b-bcce-b302099a8057', key: 'role sp_reader on reports', grant_id: null },
  },
  'provisioner.orphan_ended': {
    name: 'Reports',
    data: { orphan_id: '01890a5d-ac96-774b-bcce-b302099a8057', key: 'role sp_reader on reports', grant_id: null },
  },
  'provisioner.contested': {
    name: 'Reports',
    data: {
      holder_installation: '01890a5d-ac96-774b-bcce-b302099a8057',
      holder_epoch: 1_767_225_600,
      seen_at: '2026-01-31T12:00:00.000000Z',
    },
  },
  'provisioner.claimed': { name: 'Reports', data: {} },
  'provisioner.drifted': { name: 'Reports', data: { drift: 'added', found: 1, keys: ['role sp_reader on reports'] } },
}
