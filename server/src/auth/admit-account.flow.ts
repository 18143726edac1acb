import { claimedGroupsSync } from '../groups/claimed-member-store.ts'
import { type GroupsClaim, readGroupsClaim } from '../groups/group-mapping.ts'
import { type CallerOrigin, type SignInResult, systemActor, type Tx, type WorkCtx } from '../kernel/context.ts'
import { tenantSuspended } from '../kernel/errors.ts'
import { globalProvider } from '../sessions/session.ts'
import { endSession, hasSession } from '../sessions/session-store.ts'
import { readSettings, settingSeconds } from '../settings/setting-store.ts'
import type { StoredSignIn } from '../settings/sign-in-setting.ts'
import { findSignInSetting, providerIsStill } from '../settings/sign-in-setting-store.ts'
import { isInSuspendedTenant } from '../users/active-store.ts'
import { decideAccount, type FirstSignIn, type ProviderAccount } from '../users/provider-user.ts'
import {
  findCandidates,
  insertProviderUser,
  linkUser,
  noPrecondition,
  noteSignIn,
  type Precondition,
} from '../users/provider-user-store.ts'
import { wasSignedOut } from './logout-token-store.ts'
import { proofIn, type RedeemedAccount } from './redeemed-account.ts'
import { refuseSignIn } from './sign-in-refusal.flow.ts'
import { newSession, signedInUser } from './signed-in.ts'

/** How often a first sign-in is decided when concurrent sign-ins of the same account interfere. */
const maxAttempts = 3

const suspendedCause = 'tenant_suspended'

/** How an account may become a user at its first sign-in. */
type Entrance = {
  /** The tenant's own provider as it was when the sign-in began; undefined: the account is of the global one. */
  own: StoredSignIn | undefined
  mayCreate: boolean
  /** When the exchange of the code began, by the database's clock. */
  begunAt: Date
  /** Drops what this process keeps of a tenant's credentials. */
  dropAdmissions?: (tenant_id: string) => void
}

/** Finds, links or creates the user of an account and records the sign-in. Refuses an account without a user. */
export async function admitAccount(
  ctx: WorkCtx,
  from: CallerOrigin,
  account: RedeemedAccount,
  entrance: Entrance,
): Promise<SignInResult> {
  const { issuer } = account
  const { source_ip } = from
  const refused = (cause: string) => {
    const said = cause === suspendedCause && { problem: tenantSuspended() }
    return refuseSignIn(ctx, { cause, by: 'account', source_ip, issuer, ...said })
  }
  const found = await findOrCreateUser(ctx, account, entrance)
  if ('cause' in found) return refused(found.cause)
  const { user_id } = found
  const by = { ...ctx, actor: signedInUser(user_id) }
  const proof = proofIn(account, entrance.own?.id ?? globalProvider)
  const session = newSession(proof, from)
  const claim = groupsIn(account, entrance)
  const data = { issuer, source_ip, sid: session.id, ...(claim && { groups: groupsFact(claim) }) }
  const claims = claim && syncGroups(ctx, user_id, claim, { entrance, session_id: session.id })
  const noted = await noteSignIn(by, found, { data, session, provider: whileProviderIs(ctx.tx, entrance), claims })
  if (noted === undefined) return refused(causeOfChange(entrance, await findSignInSetting(ctx.tx)) ?? 'inactive')
  if (await wasSignedOut(ctx.tx, proof.by, entrance.begunAt)) {
    await endSession(by, session.id, 'provider')
    return refused('signed_out')
  }
  // What this process keeps of the user's keys is from before.
  if (noted.claimed) entrance.dropAdmissions?.(ctx.tx.tenant_id)
  return { tenant_id: ctx.tx.tenant_id, user_id, session_id: session.id, now: noted.now }
}

/** What the claim that gives groups said; undefined where the tenant names none. */
function groupsIn({ claims }: RedeemedAccount, { own }: Entrance): GroupsClaim | undefined {
  return own?.groups_claim ? readGroupsClaim(claims, own.groups_claim) : undefined
}

/** What the audit log says of the claim: never its values, which name what the person belongs to elsewhere. */
function groupsFact(claim: GroupsClaim) {
  return claim.is === 'read' ? { claim: claim.is, values: claim.values.length } : { claim: claim.is }
}

/** What gives the user the groups of the claim, as the service, in the transaction that begins the session. */
function syncGroups(
  ctx: WorkCtx,
  user_id: string,
  claim: GroupsClaim,
  { entrance, session_id }: { entrance: Entrance; session_id: string },
) {
  const claimed = {
    provider_id: String(entrance.own?.id),
    values: claim.is === 'read' ? claim.values : [],
    cause: claim.is === 'read' ? 'not_claimed' : (`claim_${claim.is}` as const),
    seconds: settingSeconds(ctx.tx, 'auth.claimed_groups_seconds'),
  } as const
  const hasBegun = hasSession(ctx.tx, session_id)
  return claimedGroupsSync({ ...ctx, actor: systemActor }, user_id, claimed, hasBegun)
}

/** The tenant's own provider stays as it was when the sign-in began. The global one has nothing that a tenant could change. */
function whileProviderIs(tx: Tx, { own }: Entrance): Precondition {
  return own === undefined ? noPrecondition : providerIsStill(tx, own.version)
}

/** Why the provider by which the sign-in began can admit nobody any more; undefined if it can. */
function causeOfChange({ own }: Entrance, setting: StoredSignIn | undefined): string | undefined {
  if (own === undefined || setting?.version === own.version) return undefined
  return setting?.enabled ? 'provider_changed' : 'provider_disabled'
}

async function findOrCreateUser(
  ctx: WorkCtx,
  account: ProviderAccount,
  entrance: Entrance,
): Promise<{ user_id: string; verifies: boolean } | { cause: string }> {
  const { own, mayCreate } = entrance
  const suspended = await isInSuspendedTenant(ctx.tx)
  const create = mayCreate && !suspended ? await addressesFor(ctx.tx, account) : 'never'
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    // The exchange with the provider may have taken ten seconds: what the tenant has set meanwhile counts.
    const setting = await findSignInSetting(ctx.tx)
    const cause = causeOfChange(entrance, setting)
    if (cause !== undefined) return { cause }
    // The people of a tenant with a provider of its own begin there.
    const by_directory = own !== undefined && own.identity_provider_id !== null
    const first: FirstSignIn = { mayBegin: own !== undefined || setting?.enabled !== true, create, by_directory }
    const candidates = await findCandidates(ctx.tx, account, own?.identity_provider_id ?? null)
    const decided = decideAccount(candidates, account, first)
    // Who is no user of the tenant gets the answer of any other tenant.
    if (suspended && !('cause' in decided)) return { cause: suspendedCause }
    if ('user_id' in decided || 'cause' in decided) return decided
    const provider = providerIsStill(ctx.tx, own?.version)
    const user_id =
      'link' in decided
        ? await linkUser(ctx, account, linkOf(decided, own?.identity_provider_id ?? null), provider)
        : await insertProviderUser(ctx, { ...account, ...decided.create }, provider)
    if (user_id !== undefined) return { user_id, verifies: false }
  }
  return { cause: 'changing' }
}

/** The user to link, and the directory that knows them by the account's subject. */
function linkOf(decided: { link: string; verifies: boolean; by_directory: boolean }, directory: string | null) {
  const { link: id, verifies, by_directory } = decided
  return { id, verifies, directory_id: by_directory ? directory : null }
}

/** Whether a user is created of any address, or of verified ones alone. The setting is read only where it matters. */
async function addressesFor(tx: Tx, { email_verified }: ProviderAccount): Promise<'verified' | 'any'> {
  if (email_verified) return 'verified'
  return (await readSettings(tx))['auth.allow_unverified_email'] ? 'any' : 'verified'
}
