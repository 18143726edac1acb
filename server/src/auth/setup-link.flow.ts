import { Type } from 'typebox'
import type { Tx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import type { SessionClaim } from '../sessions/session-secret.ts'
import { findSetupLink, type SetupLink } from '../users/owner-store.ts'
import { requireLink } from './one-time-link.ts'
import { requireTenantGoesOn } from './suspended-tenant.flow.ts'

export const SetupKey = Type.String({ maxLength: 200, description: 'what follows `#k=` in the setup link' })

/** @throws Problem 401 for a link that cannot be used, or not any more; 403 for a valid one of a suspended tenant */
export async function requireSetupLink(tx: Tx, key: string): Promise<{ claim: SessionClaim; link: SetupLink }> {
  const { claim, found: link } = await requireLink(key, (named) => findSetupLink(tx, named), linkOver)
  await requireTenantGoesOn(tx)
  return { claim, link }
}

/** The same for every cause: a stranger learns nothing from it. */
export function linkOver(): Problem {
  const why = 'this setup link was used, was replaced or is older than an hour'
  return new Problem('unauthenticated', `${why}; the operator makes a new one: npm run admin -- setup-link`)
}
