/** What the pages read of the API's answers. The API's document describes each field. */

export type Own = {
  id: string
  tenant: { name: string; mode: 'rehearsal' | 'live' }
  scopes: string[]
  preferences: Preferences
}

export type Preferences = {
  locale: string
  timezone: string
  date_format: 'YYYY-MM-DD' | 'MM/DD/YYYY' | 'DD/MM/YYYY' | null
  time_format: '12h' | '24h' | null
  chosen: string[]
}

export type RequestStatus = 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled'

export type Resource = { type: string; id: string }

export type RequestBody = {
  id: string
  requester_id: string
  requester_name: string
  resource: Resource
  resource_name: string | null
  action: string
  action_description: string | null
  reason: string | null
  status: RequestStatus
  decision_reasoning: string | null
  decided_by: string | null
  decided_by_name: string | null
  break_glass: boolean
  duration_seconds: number | null
  approved_duration_seconds: number | null
  extends: string | null
  metadata: Record<string, unknown>
  risk: 'high' | 'normal'
  risk_reasons: RiskReason[]
  reminded_at: string | null
  created_at: string
  updated_at: string
  may_decide: boolean
  why_not: string | null
  requester_groups?: string[]
  policy_name?: string | null
  recent?: { same_requests: number; denied: number; usual_duration_seconds: number | null }
}

export type RiskReason = 'break_glass' | 'administrator' | 'sensitive_account'

export type Comment = { id: string; author_name: string; text: string; created_at: string }

export type Deciders = { names: string[]; count: number; is_complete: boolean }

export type GrantBody = {
  id: string
  request_id: string
  user_id: string
  user_name: string
  resource: Resource
  resource_name: string | null
  action: string
  action_description: string | null
  status: 'pending' | 'active' | 'expired' | 'revoked' | 'failed'
  provisioning_status?: string
  provisioning: { step: string; provisioner: { type: string; name: string | null } | null }
  activated_at?: string
  expires_at?: string
  ended_at?: string
  ended_by_name: string | null
  end_reason: string | null
  last_error: string | null
  duration_seconds: number
  sessions_may_live_until?: string | null
  sessions_note?: string
  drifted: boolean
  connect?: Connect
  created_at: string
}

export type Connect = {
  summary: string
  links: { label: string; url: string }[]
  fields: { label: string; value: string }[]
  commands: { label: string; text: string }[]
  files: { label: string; path: string; lines: string[] }[]
}

export type Page<Item> = { data: Item[]; has_more: boolean }

/** The API's error object. */
export type Refusal = { code: string; message: string; details?: Record<string, unknown>; notices?: string[] }
