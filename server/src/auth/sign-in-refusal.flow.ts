import { createSampler, refuseSampled } from '../events/sample.ts'
import type { WorkCtx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'

/** The answer to every refused sign-in. It is the same for every cause, so that it does not reveal which users and tenants exist. */
export function invalidAuthorizationCode(): Problem {
  return new Problem('invalid_authorization_code', 'the authorization code is invalid or expired; sign in again')
}

type Refusal = { cause: string; source_ip: string; issuer?: string; reason?: string; problem?: Problem }

/** Every refusal of a provider's account is kept, up to a hundred of a tenant in an hour; then they are counted. */
const sampler = createSampler({ keptWhole: 100, windowMs: 3_600_000, keyOf: ({ tx }) => [tx.tenant_id] })

/** Refuses a sign-in through a provider and records the cause in the tenant's audit log. */
export function refuseSignIn(ctx: WorkCtx, { problem = invalidAuthorizationCode(), ...data }: Refusal): Promise<never> {
  const { tenant_id } = ctx.tx
  const event = { type: 'auth.refused', subject_type: 'tenant', subject_id: tenant_id, data } as const
  return refuseSampled(ctx, problem, event, sampler)
}
