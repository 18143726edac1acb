import type { Operation } from './history.ts'

/** A request as an answer shows it; what an answer does not show is undefined. */
export type SeenRequest = {
  id: string
  status: string
  requester_id?: string
  decided_by?: string | null
  extends?: string | null
  duration_seconds?: number | null
  approved_duration_seconds?: number | null
  updated_at?: string
  tag?: string
}

/** A grant as an answer shows it. `expires_at` and `activated_at` are absent before it was active. */
export type SeenGrant = {
  id: string
  status: string
  provisioning_status: string
  request_id: string
  user_id?: string
  ended_by?: string | null
  expires_at?: string
  activated_at?: string
  ended_at?: string
  duration_seconds?: number
  updated_at?: string
  extends?: string | null
  extended_by?: { request_id: string; status: string } | null
}

type Seen = { requests: SeenRequest[]; grants: SeenGrant[] }

const nothing: Seen = { requests: [], grants: [] }

/** The requests and grants that an answer shows as records. */
export function seenIn({ call, answer }: Operation): Seen {
  if (answer === undefined || answer.status >= 300 || answer.status === 204) return nothing
  const body = answer.body as never
  switch (call.name) {
    case 'create':
    case 'extend':
    case 'read request':
      return { ...nothing, requests: [tagged(body, answer.tag)] }
    case 'approve':
    case 'deny':
      return { ...nothing, requests: [body] }
    case 'revoke':
    case 'retry':
    case 'read grant':
      return { ...nothing, grants: [body] }
    case 'list its grants':
    case 'list own grants':
      return { ...nothing, grants: (body as { data: SeenGrant[] }).data }
    case 'list own requests':
      return { ...nothing, requests: (body as { data: SeenRequest[] }).data }
    case 'read status': {
      const { id, status, grants } = body as { id: string; status: string; grants: Omit<SeenGrant, 'request_id'>[] }
      return { requests: [{ id, status }], grants: grants.map((grant) => ({ ...grant, request_id: id })) }
    }
    default:
      return nothing
  }
}

const tagged = (request: SeenRequest, tag: string | null): SeenRequest => (tag === null ? request : { ...request, tag })
