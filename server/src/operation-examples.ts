import type { OperationExample } from './http/openapi-examples.ts'

/**
 * Examples of operations for the API document. They are one story, so ids that are the same mean the same: Ada requests to read the
 * account of the payments, Ben approves, and an administrator has prepared it.
 */
const ada = '01a21c50-e88b-704a-b6ec-11410d168227'
const ben = '01a21c50-e94f-7382-82fd-1043acee723f'
const owner = '01a21c50-e7d7-7549-89ac-1020de732e64'
const policy = '01a21c50-eadc-761a-ba05-688172f7deed'
const approvers = '01a21c50-e7b5-7036-a81e-8d3b361edf4b'
const role = '01a21c50-ec2b-756d-aaa3-1b2c381d67b4'
const group = '01a21c50-ec65-764e-a55e-f62a94ab4057'
const request = '01a21c50-ecfb-767e-961f-1d1e40abf60f'
const notification = '01a21c50-edf5-7706-b087-934286024407'
const directory = '01a21c50-ecb5-74b5-b980-63999e10cc1c'
const key = '01a21c50-ebcd-741c-a37d-d8dbfa095cd7'

/** A moment of the morning on which it happens. */
const at = (time: string) => `2026-11-27T${time}Z`

const wanted = {
  resource: { type: 'cloud_account', id: '123456789012' },
  action: 'ReadOnlyAccess',
  reason: 'look at the logs',
  duration_seconds: 3_600,
}

const nightlyReport = {
  id: key,
  name: 'nightly report',
  scopes: ['requests:read'],
  created_by: owner,
  last_used_at: null,
  expires_at: at('23:00:00.000'),
  revoked_at: null,
  revoked_by: null,
  created_at: at('08:00:00.000'),
}

/** By `operationId`. */
export const operationExamples: Readonly<Record<string, OperationExample>> = {
  exchangeAuthorizationCode: {
    body: {
      code: 'SplxlOBeZQQYbYS6WxSbIA',
      redirect_uri: 'https://access.acme.example/signed-in',
      state: 'af0ifjsldkj',
      iss: 'https://id.acme.example',
    },
    answer: { token: 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJBZGEifQ.c2lnbmF0dXJl', expires_at: at('10:00:00.000') },
  },
  createUser: {
    body: { email: 'ada@acme.example', name: 'Ada', roles: ['user'], password: 'a heron in the pond at dawn' },
    answer: {
      id: ada,
      email: 'ada@acme.example',
      name: 'Ada',
      roles: ['user'],
      auth_provider: 'local',
      active: true,
      email_verified: false,
      is_owner: false,
      created_at: at('08:01:00.000'),
      updated_at: at('08:01:00.000'),
      avatar_base64: null,
    },
  },
  updateUser: {
    parameters: { id: ada },
    body: { department: 'Payments', title: 'Engineer', manager_id: ben },
    answer: {
      id: ada,
      email: 'ada@acme.example',
      name: 'Ada',
      roles: ['user'],
      auth_provider: 'local',
      active: true,
      email_verified: false,
      is_owner: false,
      created_at: at('08:01:00.000'),
      updated_at: at('08:01:30.000'),
      department: 'Payments',
      title: 'Engineer',
      manager_id: ben,
      avatar_base64: null,
    },
  },
  upsertCloudAccounts: {
    body: {
      resources: [
        { id: 'payments', name: 'Payments', account_id: wanted.resource.id, metadata: { env: 'production' }, rank: 1 },
      ],
    },
    answer: { upserted: 1 },
  },
  createRule: {
    parameters: { id: policy },
    body: {
      effect: 'permit',
      action_scope_type: 'eq',
      action_ids: [wanted.action],
      resource_scope_type: 'is',
      resource_entity_type: wanted.resource.type,
      conditions: 'when { context.duration_seconds <= 14400 }',
    },
    answer: {
      id: '01a21c50-eb07-718f-b7d0-d3d1deb621b9',
      policy_id: policy,
      ordinal: 0,
      effect: 'permit',
      principal_scope_type: 'any',
      action_scope_type: 'eq',
      action_ids: [wanted.action],
      resource_scope_type: 'is',
      resource_entity_type: wanted.resource.type,
      conditions: 'when { context.duration_seconds <= 14400 }',
      policy_text:
        'permit(principal, action == Action::"ReadOnlyAccess", resource is cloud_account) when { context.duration_seconds <= 14400 };',
      approval_mode: 'require',
      audit_session: false,
      created_at: at('08:02:00.000'),
      updated_at: at('08:02:00.000'),
      warnings: [],
    },
  },
  reorderPolicies: { body: { ids: [policy, approvers] } },
  upsertSetting: {
    parameters: { setting_key: 'requests.max_duration_seconds' },
    body: { value: '14400' },
    answer: { key: 'requests.max_duration_seconds', value: '14400', updated_at: at('08:03:00.000') },
  },
  createEmailChannel: {
    body: { name: 'On call', to_addresses: ['oncall@acme.example'], event_filters: ['request.created'] },
    answer: {
      id: '01a21c50-ebc2-7600-a4d2-fdbd3be076a2',
      name: 'On call',
      event_filters: ['request.created'],
      enabled: true,
      created_at: at('08:04:00.000'),
      updated_at: at('08:04:00.000'),
      channel_type: 'email',
      config: { to_addresses: ['oncall@acme.example'] },
    },
  },
  listApiKeys: { answer: { data: [nightlyReport], has_more: false } },
  revokeApiKey: {
    parameters: { id: key },
    answer: { ...nightlyReport, revoked_at: at('09:30:00.000'), revoked_by: owner },
  },
  setAiProviderDefault: {
    body: { type: 'provider_a' },
    answer: { type: 'provider_a', config: { model: 'large' }, is_default: true, updated_at: at('08:05:00.000') },
  },
  updateRole: {
    parameters: { role_id: role },
    body: { scopes: ['groups:read', 'cloud_accounts:read'] },
    answer: {
      id: role,
      name: 'Catalogue reader',
      description: '',
      scopes: ['groups:read', 'cloud_accounts:read'],
      system: false,
      version: 2,
      created_at: at('08:06:00.000'),
      updated_at: at('08:07:00.000'),
      blast_radius: { level: 'low', reasons: ['`groups:read` only reads', '`cloud_accounts:read` only reads'] },
    },
  },
  listPermissions: {
    answer: {
      data: [
        {
          resource: 'requests',
          scopes: [
            {
              scope: 'requests:create',
              resource: 'requests',
              action: 'create',
              name: 'Request access',
              description: "Create one's own access requests",
            },
          ],
        },
      ],
    },
  },
  addGroupMember: {
    parameters: { id: group },
    body: { user_id: ada },
    answer: { group_id: group, user_id: ada, membership_source: 'local', created_at: at('08:09:00.000') },
  },
  listGroups: {
    answer: {
      data: [
        {
          id: group,
          name: 'Payments team',
          source: 'local',
          member_count: 1,
          role_mappings: [],
          created_at: at('08:08:00.000'),
          updated_at: at('08:08:00.000'),
        },
      ],
      has_more: false,
    },
  },
  getIdentityProvider: {
    parameters: { id: directory },
    answer: {
      id: directory,
      name: 'Directory',
      provider_type: 'custom_scim',
      config: {},
      enabled: true,
      last_synced_at: null,
      sync_status: 'pending',
      sync_error: null,
      created_at: at('08:10:00.000'),
      updated_at: at('08:10:00.000'),
    },
  },
  updateOwnProfile: {
    body: { display_name: 'Ada L.' },
    answer: {
      id: ada,
      email: 'ada@acme.example',
      name: 'Ada',
      auth_provider: 'local',
      first_name: null,
      last_name: null,
      display_name: 'Ada L.',
      avatar_base64: null,
    },
  },
  updateOwnPreferences: {
    body: { timezone: 'Europe/Berlin', time_format: '24h' },
    answer: { locale: null, timezone: 'Europe/Berlin', date_format: null, time_format: '24h' },
  },
  approveRequest: {
    parameters: { id: request },
    body: { reasoning: 'go ahead' },
    answer: {
      id: request,
      requester_id: ada,
      ...wanted,
      status: 'approved',
      decision_reasoning: 'go ahead',
      decided_by: ben,
      approval_mode: 'require',
      break_glass: false,
      metadata: {},
      created_at: at('09:00:00.000'),
      updated_at: at('09:05:00.000'),
    },
  },
  cancelRequest: { parameters: { id: '01a21c50-ed1f-705e-8a9d-66af55474791' }, body: {} },
  getAccessRequestStatus: {
    parameters: { id: request },
    answer: {
      id: request,
      status: 'approved',
      grants: [
        {
          id: '01a21c50-ed8c-7315-a012-0c2d0e81dc4b',
          name: 'ReadOnlyAccess on cloud_account 123456789012',
          status: 'active',
          approved: true,
          activated_at: at('09:05:01.000'),
          expires_at: at('10:05:01.000'),
          provisioning_status: 'successful',
        },
      ],
    },
  },
  markNotificationRead: {
    parameters: { id: notification },
    answer: {
      id: notification,
      event_type: 'request.approved',
      title: 'Ben approved ReadOnlyAccess on account Payments (123456789012) for Ada',
      body:
        'Ben approved ReadOnlyAccess on account Payments (123456789012) for 1 h for Ada. Reason: “look at the logs”. ' +
        'Note: “go ahead”. The access begins once its target has confirmed it; its time is counted from then.',
      resource_type: 'access_request',
      resource_id: request,
      created_at: at('09:05:00.000'),
      read_at: at('09:06:00.000'),
    },
  },
}
