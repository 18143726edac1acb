import { randomNonce, randomPKCECodeVerifier } from 'openid-client'
import type { GlobalOidc } from '../config/config.ts'
import type { Database } from '../db/transaction.ts'
import type { NewEvent } from '../events/emit.ts'
import { refuseSampled } from '../events/sample.ts'
import {
  type AuthorizationAnswer,
  type Egress,
  type ProviderSignIn,
  type Sealer,
  systemActor,
  type Tx,
  type WorkCtx,
} from '../kernel/context.ts'
import { invalidInput, notFound, Problem } from '../kernel/errors.ts'
import { newId, readUuid } from '../kernel/id.ts'
import { derivedKeys, type RootKeys } from '../secrets/root-key.ts'
import type { StoredSignIn } from '../settings/sign-in-setting.ts'
import { findSignInSetting, openClientSecret } from '../settings/sign-in-setting-store.ts'
import type { Welcome } from '../users/provider-user.ts'
import { findOrAdmitUser, isTenant, listTenantsOfAccount, noteSignIn } from '../users/provider-user-store.ts'
import { openProviders, type Providers, type RedeemedAccount, RefusedByProvider } from './oidc-provider.ts'
import { browserCookie, browserFault, browserHash, type StateCodec, stateCodec } from './oidc-state.ts'
import { insertSignInState, readClock, type SignInState, takeSignInState } from './oidc-state-store.ts'

export type ProviderSignInOptions = {
  database: Database
  rootKeys: RootKeys
  sealer: Sealer
  egress: Egress
  publicUrl: string
  /** The provider of sign-ins that were begun elsewhere. */
  global: GlobalOidc | undefined
  /** Told what no tenant's audit log can hold: the cause of a refusal where no tenant is known. */
  onRefusal(cause: string): void
}

type From = Parameters<ProviderSignIn['finish']>[1]
type Answer = Omit<AuthorizationAnswer, 'state'>

type Hall = ProviderSignInOptions & { states: StateCodec; providers: Providers }

/** Makes sign-in by providers: each tenant's own, and the global one. */
export function openProviderSignIn(options: ProviderSignInOptions): ProviderSignIn {
  const states = stateCodec(derivedKeys(options.rootKeys, 'oidc-state'))
  const hall: Hall = { ...options, states, providers: openProviders(options.egress) }
  return {
    begin: (asked) => begin(hall, asked),
    finish: ({ state, ...answer }, from) =>
      state === undefined ? finishGlobal(hall, answer, from) : finishOwn(hall, { ...answer, state }, from),
    findIssuerFault: (issuer) => options.egress.findFault(issuer),
    cookies: browserCookie(options.publicUrl),
  }
}

async function begin(
  { database, sealer, states, providers }: Hall,
  { tenant_id, redirect_uri, browser }: Parameters<ProviderSignIn['begin']>[0],
): Promise<string> {
  const tx = database.tenant(tenant_id)
  const setting = await findSignInSetting(tx)
  if (setting === undefined || !setting.enabled) throw notFound('sign-in by a provider')
  if (!setting.redirect_uris.includes(redirect_uri)) {
    throw invalidInput([{ pointer: 'redirect_uri', why: 'is none of those that the sign-in settings list' }])
  }
  const { issuer, client_id, scopes } = setting
  const id = newId()
  const bound = { redirect_uri, nonce: randomNonce(), code_verifier: randomPKCECodeVerifier() }
  const request = { ...bound, scopes, state: states.sign({ tenant_id, id }) }
  const location = await providers.authorizationUrl(await clientOf(sealer, tx, setting), request).catch(hide)
  const browser_hash = browser === null ? null : browserHash(browser)
  await insertSignInState(tx, id, { ...bound, issuer, client_id, browser_hash })
  return location
}

/** A sign-in that was begun here, by a tenant's own provider. */
async function finishOwn(hall: Hall, answer: Answer & { state: string }, from: From) {
  const claim = hall.states.read(answer.state)
  if (claim === undefined) return turnAway(hall, 'state_unknown')
  const ctx = ctxOf(hall.database, claim.tenant_id, from)
  // INVARIANT: the state is used up before anybody is asked, whatever comes of it.
  const taken = await takeSignInState(ctx.tx, claim.id)
  if (taken === undefined) return refuseIn(ctx, from, 'state_used')
  const setting = await findSignInSetting(ctx.tx)
  const cause = taken.live ? ownFault(taken, setting, answer, from) : 'state_expired'
  if (cause !== undefined || setting === undefined) return refuseIn(ctx, from, cause ?? 'provider_disabled')
  const known = await clientOf(hall.sealer, ctx.tx, setting)
  const redemption = { ...answer, bound: taken, now: new Date(taken.now) }
  const account = await hall.providers.redeem(known, redemption).catch((error) => refuseForProvider(ctx, from, error))
  return admit(ctx, from, account, { link: true, make: true })
}

/** A sign-in that was begun elsewhere: its tenant is the one that the provider names, or else the only one that knows it. */
async function finishGlobal(hall: Hall, answer: Answer, from: From) {
  const { database, global } = hall
  if (global === undefined) return turnAway(hall, 'no_global_provider')
  if (!global.redirect_uris.includes(answer.redirect_uri)) return turnAway(hall, 'redirect_uri')
  if (answer.iss !== undefined && answer.iss !== global.issuer) return turnAway(hall, 'other_issuer')
  const account = await redeemGlobally(hall, global, answer)
  const named = global.tenant_claim === undefined ? undefined : account.claims[global.tenant_claim]
  const tenants = named === undefined ? await listTenantsOfAccount(database.work, account) : [readTenantClaim(named)]
  const [tenant_id] = tenants
  if (tenant_id === undefined) return turnAway(hall, 'unknown_user')
  if (tenants.length > 1) return turnAway(hall, 'several_tenants')
  const ctx = ctxOf(database, tenant_id, from)
  if (!(await isTenant(ctx.tx))) return turnAway(hall, 'unknown_tenant')
  // Users that a tenant with a provider of its own makes for it wait for that provider and no other.
  const link = (await findSignInSetting(ctx.tx))?.enabled !== true
  return admit(ctx, from, account, { link, make: named !== undefined })
}

async function redeemGlobally(hall: Hall, global: GlobalOidc, answer: Answer): Promise<RedeemedAccount> {
  const redemption = { ...answer, bound: undefined, now: await readClock(hall.database.work) }
  try {
    return await hall.providers.redeem({ ...global, tenant_id: null }, redemption, global.tenant_claim)
  } catch (error) {
    if (error instanceof RefusedByProvider) return turnAway(hall, error.message)
    throw error
  }
}

/** Refuses where no tenant is known whose audit log could hold it. */
function turnAway(hall: Hall, cause: string): never {
  hall.onRefusal(cause)
  throw refusal()
}

/** Why a sign-in that was begun here may not go on, before anybody is asked; undefined where it may. */
function ownFault(
  taken: SignInState,
  setting: StoredSignIn | undefined,
  answer: Answer,
  from: From,
): string | undefined {
  if (answer.redirect_uri !== taken.redirect_uri) return 'redirect_uri'
  if (answer.iss !== undefined && answer.iss !== taken.issuer) return 'other_issuer'
  if (setting === undefined || !setting.enabled) return 'provider_disabled'
  if (setting.issuer !== taken.issuer || setting.client_id !== taken.client_id) return 'provider_changed'
  if (!setting.redirect_uris.includes(taken.redirect_uri)) return 'redirect_uri'
  return browserFault(taken.browser_hash, from.browsers)
}

/** Finds or makes the user, and notes that they signed in. */
async function admit(ctx: WorkCtx, from: From, account: RedeemedAccount, welcome: Welcome) {
  const { issuer } = account
  const found = await findOrAdmitUser(ctx, account, welcome)
  if ('cause' in found) return refuseIn(ctx, from, found.cause, { issuer })
  const { user_id } = found
  const actor = { kind: 'user', user_id, api_key_id: null, scopes: new Set<string>() } as const
  const now = await noteSignIn({ ...ctx, actor }, user_id, { issuer, source_ip: from.source_ip })
  if (now === undefined) return refuseIn(ctx, from, 'inactive', { issuer })
  return { tenant_id: ctx.tx.tenant_id, user_id, now }
}

function refusal(): Problem {
  return new Problem('invalid_authorization_code', 'the authorization code is invalid or expired; sign in again')
}

function refuseIn(ctx: WorkCtx, from: From, cause: string, more: Record<string, unknown> = {}): Promise<never> {
  return refuseSampled(ctx, refusal(), refused(ctx, from, cause, more))
}

function refused(ctx: WorkCtx, { source_ip }: From, cause: string, more: Record<string, unknown> = {}): NewEvent {
  const data = { cause, source_ip, ...more }
  return { type: 'auth.refused', subject_type: 'tenant', subject_id: ctx.tx.tenant_id, data }
}

async function refuseForProvider(ctx: WorkCtx, from: From, error: unknown): Promise<never> {
  if (error instanceof RefusedByProvider) return refuseIn(ctx, from, 'provider', { reason: error.message })
  if (!(error instanceof Problem)) throw error
  return refuseSampled(ctx, error, refused(ctx, from, 'provider_unavailable'))
}

/** Before anybody signed in, a provider that is not what it should be is as good as none. */
function hide(error: unknown): never {
  if (!(error instanceof RefusedByProvider)) throw error
  const problem = new Problem(
    'unavailable',
    'the identity provider does not answer as it should; try again in a moment',
  )
  problem.cause = error
  throw problem
}

/** A claim that is no tenant's id leads to no tenant. */
function readTenantClaim(claim: unknown): string {
  return (typeof claim === 'string' ? readUuid(claim) : undefined) ?? newId()
}

async function clientOf(sealer: Sealer, tx: Tx, setting: StoredSignIn) {
  const { issuer, client_id } = setting
  const { tenant_id } = tx
  return { tenant_id, issuer, client_id, client_secret: await openClientSecret(sealer, tx, setting) }
}

function ctxOf(database: Database, tenant_id: string, { request_id }: From): WorkCtx {
  return { tx: database.tenant(tenant_id), actor: systemActor, request_id }
}
