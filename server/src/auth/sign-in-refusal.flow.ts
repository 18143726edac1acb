import { refuseSampled } from '../events/sample.ts'
import type { WorkCtx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'

/** What the caller of a refused sign-in is answered, whatever the cause: nobody learns which users and tenants there are. */
export function invalidAuthorizationCode(): Problem {
  return new Problem('invalid_authorization_code', 'the authorization code is invalid or expired; sign in again')
}

type Refusal = { cause: string; source_ip: string; issuer?: string; reason?: string; problem?: Problem }

/** Refuses a sign-in by a provider, and keeps the cause in the tenant's audit log; of many alike a sample. */
export function refuseSignIn(ctx: WorkCtx, { problem = invalidAuthorizationCode(), ...data }: Refusal): Promise<never> {
  const { tenant_id } = ctx.tx
  return refuseSampled(ctx, problem, { type: 'auth.refused', subject_type: 'tenant', subject_id: tenant_id, data })
}
