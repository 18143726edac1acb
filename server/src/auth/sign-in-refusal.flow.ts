import { refuseSampled } from '../events/sample.ts'
import type { WorkCtx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'

/** The answer to every refused sign-in. It is the same for every cause, so that it does not reveal which users and tenants exist. */
export function invalidAuthorizationCode(): Problem {
  return new Problem('invalid_authorization_code', 'the authorization code is invalid or expired; sign in again')
}

type Refusal = { cause: string; source_ip: string; issuer?: string; reason?: string; problem?: Problem }

/** Refuses a sign-in through a provider and records the cause in the tenant's audit log. Of many alike, it records a sample. */
export function refuseSignIn(ctx: WorkCtx, { problem = invalidAuthorizationCode(), ...data }: Refusal): Promise<never> {
  const { tenant_id } = ctx.tx
  return refuseSampled(ctx, problem, { type: 'auth.refused', subject_type: 'tenant', subject_id: tenant_id, data })
}
