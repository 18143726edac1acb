import { Type } from 'typebox'
import { findJoining, type Joining } from '../invitations/join-store.ts'
import type { Tx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import type { SessionClaim } from '../sessions/session-secret.ts'
import { requireLink } from './one-time-link.ts'
import { requireTenantGoesOn } from './suspended-tenant.flow.ts'

export const InvitationKey = Type.String({ maxLength: 200, description: 'what follows `#k=` in the invitation link' })

/** @throws Problem 401 for a link that cannot be used, or not any more; 403 for a valid one of a suspended tenant */
export async function requireInvitation(tx: Tx, key: string): Promise<{ claim: SessionClaim; joining: Joining }> {
  const { claim, found: joining } = await requireLink(key, (named) => findJoining(tx, named), invitationOver)
  await requireTenantGoesOn(tx)
  return { claim, joining }
}

/** The same for every cause: a stranger learns nothing from it. */
function invitationOver(): Problem {
  const why = 'this invitation was used, was replaced or revoked, does not fit the user any more, or has expired'
  return new Problem('unauthenticated', `${why}; ask the person who invited you for a new link`)
}
