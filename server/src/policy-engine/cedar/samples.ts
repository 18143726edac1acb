/** Sample questions: a rule is evaluated once against them before it is accepted, and tests vary them. */
import type { AccessRequest, ApproveQuestion, AskQuestion, Principal, Resource } from './question.ts'

const samplePrincipal: Principal = {
  id: 'ada',
  email: 'ada@example.com',
  email_verified: false,
  name: 'Ada',
  active: true,
  auth_provider: 'local',
  is_owner: false,
  scopes: ['requests:create'],
  group_ids: ['engineers'],
  role_ids: ['user'],
}

export const sampleAccount: Resource = {
  type: 'cloud_account',
  id: '123456789012',
  name: 'sample',
  tags: { env: 'dev' },
  parents: [{ type: 'cloud_organizational_unit', id: 'ou-ab12-12345678' }],
}

export const sampleQuestion: AskQuestion = {
  principal: samplePrincipal,
  action: 'ReadOnlyAccess',
  resources: [sampleAccount],
  context: {
    duration_seconds: 3600,
    has_reason: true,
    break_glass: false,
    now: new Date('2024-01-01T12:00:00Z'),
    time_zone: 'UTC',
    via: 'token',
    source_ip: '192.0.2.1',
  },
}

const sampleRequest: AccessRequest = {
  id: '0b5e8a52-6f6b-4f0e-9f1c-5b2f5a3f0c11',
  requester: samplePrincipal,
  action: 'ReadOnlyAccess',
  duration_seconds: 3600,
  break_glass: false,
}

export const sampleApproval: ApproveQuestion = {
  principal: {
    ...samplePrincipal,
    id: 'grace',
    name: 'Grace',
    email: 'grace@example.com',
    scopes: ['requests:approve'],
  },
  request: sampleRequest,
  targets: [sampleAccount],
  context: sampleQuestion.context,
}
