import type { Database } from '../db/transaction.ts'
import { makeSessionSecret, secretLink } from '../sessions/session-secret.ts'
import { firstOwnerEmail, saveSetupLink } from '../users/owner-store.ts'
import { operatorCtx } from './create-tenant.flow.ts'
import { findOneOwner } from './operator.flow.ts'

/** A link by which a person becomes the first owner, once. `url` holds the secret behind `#`, which browsers do not send. */
type MadeLink = { tenant_id: string; url: string; expires_at: string }

/**
 * Makes a setup link, which is valid for an hour and replaces the one before. `tenant_id`: if several tenants have a first owner.
 * @throws Error with a message when the first owner was set up already, or is not active
 */
export async function makeSetupLink(
  database: Database,
  { public_url, tenant_id }: { public_url: string; tenant_id?: string | undefined },
): Promise<MadeLink> {
  const owner = await findOneOwner(database, { email: firstOwnerEmail, tenant_id })
  if (owner === undefined) throw new Error(setUpAlready)
  const { text, cookie_hash } = makeSessionSecret(owner.tenant_id, owner.user.id)
  const ctx = operatorCtx(database.tenant(owner.tenant_id))
  const expires_at = await saveSetupLink(ctx, owner.user.id, cookie_hash)
  if (expires_at === undefined) throw new Error(`\`${firstOwnerEmail}\` is not active, so a link would not work`)
  return { tenant_id: owner.tenant_id, url: secretLink(public_url, 'setup', text), expires_at }
}

const setUpAlready =
  'the owner was set up already: `tenant list` shows the owners, and `owner reset EMAIL` gives one a new password'
