import type { WorkCtx } from '../kernel/context.ts'
import { decideAccount, type FirstSignIn, type ProviderAccount } from '../users/provider-user.ts'
import { findCandidates, insertProviderUser, linkUser, noteSignIn } from '../users/provider-user-store.ts'
import { refuseSignIn } from './sign-in-refusal.flow.ts'

/** How often a first sign-in is decided when concurrent sign-ins of the same account interfere. */
const maxAttempts = 3

/** Finds, links or creates the user of an account and records the sign-in. Refuses an account without a user. */
export async function admitAccount(
  ctx: WorkCtx,
  source_ip: string,
  account: ProviderAccount,
  first: FirstSignIn,
): Promise<{ tenant_id: string; user_id: string; now: Date }> {
  const { issuer } = account
  const found = await findOrCreateUser(ctx, account, first)
  if ('cause' in found) return refuseSignIn(ctx, { cause: found.cause, source_ip, issuer })
  const { user_id } = found
  const actor = { kind: 'user', user_id, api_key_id: null, scopes: new Set<string>() } as const
  const now = await noteSignIn({ ...ctx, actor }, user_id, { issuer, source_ip })
  if (now === undefined) return refuseSignIn(ctx, { cause: 'inactive', source_ip, issuer })
  return { tenant_id: ctx.tx.tenant_id, user_id, now }
}

async function findOrCreateUser(
  ctx: WorkCtx,
  account: ProviderAccount,
  first: FirstSignIn,
): Promise<{ user_id: string } | { cause: string }> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const decided = decideAccount(await findCandidates(ctx.tx, account), account, first)
    if ('user_id' in decided || 'cause' in decided) return decided
    const user_id =
      'link' in decided
        ? await linkUser(ctx, account, decided.link)
        : await insertProviderUser(ctx, { ...account, ...decided.create })
    if (user_id !== undefined) return { user_id }
  }
  return { cause: 'changing' }
}
