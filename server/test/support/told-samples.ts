import type { ChannelFacts, GrantFacts, RequestFacts } from '../../src/notifications/told-facts.ts'

/** A request and a grant as the table of who is told what may find them. */
export const sampleRequest: RequestFacts = {
  requester_id: 'u1',
  requester_name: 'Dana Lee',
  resource_type: 'cloud_account',
  resource_id: '123456789012',
  action: 'ReadOnlyAccess',
  reason: 'look at the logs',
  approval_mode: 'require',
  duration_seconds: 5400,
  decision_reasoning: null,
  waits_until: '2026-03-02T06:35:09.120Z',
  decided_by_name: null,
  actor_id: 'u1',
  actor_name: 'Dana Lee',
}

export const sampleGrant: GrantFacts = {
  holder_id: 'u1',
  name: 'ReadOnlyAccess on cloud_account 123456789012',
  status: 'active',
  expires_at: '2026-03-01T08:05:09.120Z',
  ended_by: null,
  ended_by_name: null,
  end_reason: null,
}

/** Among them is one for each condition of the table. */
export const sampleRequests: readonly RequestFacts[] = [
  sampleRequest,
  { ...sampleRequest, actor_id: 'u2', actor_name: 'Kim Rivera' },
]

export const sampleGrants: readonly GrantFacts[] = [sampleGrant, { ...sampleGrant, status: 'expired' }]

export const sampleChannels: readonly ChannelFacts[] = [{ name: 'Pager of operations' }]
