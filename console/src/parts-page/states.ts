import type { Schemas } from '@sallyport/client'
import { type GrantFacts, grantState } from '../access/grant.ts'
import { requestState, type State } from '../requests/request.ts'
import { english } from '../words/english.ts'

const requests: readonly Schemas['AccessRequest']['status'][] = [
  'pending',
  'approved',
  'denied',
  'cancelled',
  'expired',
]
const grants: readonly GrantFacts[] = [
  { status: 'pending', provisioning_status: 'attempting', drifted: false },
  { status: 'active', provisioning_status: 'successful', drifted: false },
  { status: 'active', provisioning_status: 'successful', drifted: true },
  { status: 'expired', provisioning_status: 'deprovisioning', drifted: false },
  { status: 'expired', provisioning_status: 'deprovisioned', drifted: false },
  { status: 'revoked', provisioning_status: 'deprovisioned', drifted: false },
  { status: 'expired', provisioning_status: 'deprovisioning_failed', drifted: false },
  { status: 'failed', provisioning_status: 'failed', drifted: false },
]

/** The badges of all states of requests and access, and those that stand beside them. */
export const states: readonly State[] = [
  ...requests.map((status) => requestState(status, english)),
  ...grants.map((grant) => grantState(grant, english)),
  { word: english.access.emergency, tone: 'emergency', icon: 'siren' },
  { word: 'Rehearsal', tone: 'rehearsal', icon: 'flask' },
]

const refusal = (status: number, body: Schemas['Error']) => ({
  response: new Response(null, { status, headers: { 'X-Request-Id': '01a21327-76eb-7182-8cc4-fa4ff1a5e0f7' } }),
  body,
})

/** Answers of the service that refuse. */
export const refused = {
  conflict: refusal(409, {
    code: 'request_not_pending',
    message: 'Ben approved this 3 s ago; there is nothing left to do',
  }),
  policy: refusal(403, {
    code: 'policy_denied',
    message: 'a rule forbids it',
    notices: ['Administrator rights last an hour at most.'],
  }),
  internal: refusal(500, { code: 'internal', message: 'something broke' }),
}
