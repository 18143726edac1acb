import { createSampler, refuseSampled } from '../events/sample.ts'
import type { WorkCtx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'

/** The answer to every refused sign-in. It is the same for every cause, so that it does not reveal which users and tenants exist. */
export function invalidAuthorizationCode(): Problem {
  return new Problem('invalid_authorization_code', 'the authorization code is invalid or expired; sign in again')
}

type Refusal = { cause: string; source_ip: string; issuer?: string; reason?: string; problem?: Problem }

/** The causes that need no account at the provider: anybody can bring them about. */
const ofStrangers: ReadonlySet<unknown> = new Set([
  ...['state_used', 'state_expired', 'redirect_uri', 'other_issuer', 'other_browser', 'not_begun_by_browser'],
  ...['provider_disabled', 'provider_changed'],
])

const ofProviders: ReadonlySet<unknown> = new Set(['provider', 'provider_unavailable'])

function sourceOf(cause: unknown): 'stranger' | 'provider' | 'account' {
  if (ofStrangers.has(cause)) return 'stranger'
  return ofProviders.has(cause) ? 'provider' : 'account'
}

/** A hundred refusals of each source are kept in an hour; then they are counted. So no source hides another's. */
const sampler = createSampler({
  keptWhole: 100,
  windowMs: 3_600_000,
  keyOf: ({ tx }, { data: { cause } = {} }) => [tx.tenant_id, sourceOf(cause)],
})

/** Refuses a sign-in through a provider and records the cause in the tenant's audit log. */
export function refuseSignIn(ctx: WorkCtx, { problem = invalidAuthorizationCode(), ...data }: Refusal): Promise<never> {
  const { tenant_id } = ctx.tx
  return refuseSampled(
    ctx,
    problem,
    { type: 'auth.refused', subject_type: 'tenant', subject_id: tenant_id, data },
    sampler,
  )
}
