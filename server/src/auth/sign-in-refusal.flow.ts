import { createSampler, refuseSampled } from '../events/sample.ts'
import type { WorkCtx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'

/** The answer to every refused sign-in. It is the same for every cause, so that it does not reveal which users and tenants exist. */
export function invalidAuthorizationCode(): Problem {
  return new Problem('invalid_authorization_code', 'the authorization code is invalid or expired; sign in again')
}

type Refusal = {
  cause: string
  /**
   * Who can bring it about: a `stranger` without an account at the provider, the `provider` by its answer, an `outage` of the provider,
   * or a person with an `account` there.
   */
  by: 'stranger' | 'provider' | 'outage' | 'account'
  source_ip: string
  issuer?: string
  reason?: string
  problem?: Problem
}

/** Of each source, a hundred refusals are kept in an hour; then they are counted. So none hides those of another. */
const samplers = { stranger: sampler(), provider: sampler(), outage: sampler(), account: sampler() }

function sampler() {
  return createSampler({ keptWhole: 100, windowMs: 3_600_000, keyOf: ({ tx }) => [tx.tenant_id] })
}

/** Refuses a sign-in through a provider and records the cause in the tenant's audit log. */
export function refuseSignIn(
  ctx: WorkCtx,
  { problem = invalidAuthorizationCode(), by, ...data }: Refusal,
): Promise<never> {
  const { tenant_id } = ctx.tx
  const event = { type: 'auth.refused', subject_type: 'tenant', subject_id: tenant_id, data } as const
  return refuseSampled(ctx, problem, event, samplers[by])
}
