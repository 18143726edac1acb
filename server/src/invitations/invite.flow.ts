import type { Ctx, SealedPlace } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { makeSessionSecret, secretLink } from '../sessions/session-secret.ts'
import type { MadeInvitation } from './invitation.ts'
import { insertInvitation } from './invitation-store.ts'

/**
 * Makes an invitation of a locked user. The mailed link has a secret of its own, which the inviter does not get: its use proves
 * that the person reads the mail of the address.
 * @param vouched_scopes what the user holds, as the caller was checked against it
 */
export async function invite(
  ctx: Ctx,
  { user_id, vouched_scopes }: { user_id: string; vouched_scopes: readonly string[] },
): Promise<MadeInvitation> {
  const id = newId()
  const { text, cookie_hash: secret_hash } = makeSessionSecret(ctx.tx.tenant_id, id)
  const mail = ctx.sends_mail ? await makeMailed(ctx, id) : undefined
  const invitation = { id, user_id, secret_hash, vouched_scopes: [...new Set(vouched_scopes)], mail }
  const { state: _state, ended_at: _ended, ...made } = await insertInvitation(ctx, invitation)
  return { ...made, url: secretLink(ctx.public_url, 'invitation', text) }
}

async function makeMailed({ tx, sealer }: Ctx, id: string): Promise<{ secret_hash: Buffer; sealed: string }> {
  const { text, cookie_hash } = makeSessionSecret(tx.tenant_id, id)
  return { secret_hash: cookie_hash, sealed: await sealer.seal(tx, text, mailedPlace(id)) }
}

/** The place to which the mailed secret is sealed. */
export function mailedPlace(id: string): SealedPlace {
  return { table: 'invitation_mail', id, field: 'sealed_secrets' }
}
