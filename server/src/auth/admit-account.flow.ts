import type { Tx, WorkCtx } from '../kernel/context.ts'
import { readSettings } from '../settings/setting-store.ts'
import { decideAccount, type FirstSignIn, type ProviderAccount } from '../users/provider-user.ts'
import { findCandidates, insertProviderUser, linkUser, noteSignIn } from '../users/provider-user-store.ts'
import { refuseSignIn } from './sign-in-refusal.flow.ts'

/** How often a first sign-in is decided when concurrent sign-ins of the same account interfere. */
const maxAttempts = 3

/** How an account may become a user at its first sign-in. */
type MayBecomeUser = { mayBegin: boolean; mayCreate: boolean }

/** Finds, links or creates the user of an account and records the sign-in. Refuses an account without a user. */
export async function admitAccount(
  ctx: WorkCtx,
  source_ip: string,
  account: ProviderAccount,
  may: MayBecomeUser,
): Promise<{ tenant_id: string; user_id: string; now: Date }> {
  const { issuer } = account
  const found = await findOrCreateUser(ctx, account, may)
  if ('cause' in found) return refuseSignIn(ctx, { cause: found.cause, source_ip, issuer })
  const { user_id } = found
  const actor = { kind: 'user', user_id, api_key_id: null, scopes: new Set<string>() } as const
  const now = await noteSignIn({ ...ctx, actor }, found, { issuer, source_ip })
  if (now === undefined) return refuseSignIn(ctx, { cause: 'inactive', source_ip, issuer })
  return { tenant_id: ctx.tx.tenant_id, user_id, now }
}

async function findOrCreateUser(
  ctx: WorkCtx,
  account: ProviderAccount,
  { mayBegin, mayCreate }: MayBecomeUser,
): Promise<{ user_id: string; verifies: boolean } | { cause: string }> {
  const first: FirstSignIn = { mayBegin, create: mayCreate ? await addressesFor(ctx.tx, account) : 'never' }
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const decided = decideAccount(await findCandidates(ctx.tx, account), account, first)
    if ('user_id' in decided || 'cause' in decided) return decided
    const user_id =
      'link' in decided
        ? await linkUser(ctx, account, decided.link)
        : await insertProviderUser(ctx, { ...account, ...decided.create })
    if (user_id !== undefined) return { user_id, verifies: false }
  }
  return { cause: 'changing' }
}

/** Whether a user is created of any address, or of verified ones alone. The setting is read only where it matters. */
async function addressesFor(tx: Tx, { email_verified }: ProviderAccount): Promise<'verified' | 'any'> {
  if (email_verified) return 'verified'
  return (await readSettings(tx))['auth.allow_unverified_email'] ? 'any' : 'verified'
}
