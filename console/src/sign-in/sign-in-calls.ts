import { answerOf, createClient, Refusal } from '@sallyport/client'
import { api, callService } from '../api/api.ts'
import type { Organization } from './organization.ts'

export type Found = { tenant_id: string; sign_in?: 'local' | 'provider' }

/** The second step of a sign-in: what the service accepts, and the challenge that it is for. `expiresAt`: by `performance.now()`. */
export type SecondStep = { challenge: string; expiresAt: number; methods: readonly string[]; passkey: unknown }

export type Outcome = { kind: 'signed in' } | { kind: 'second step'; step: SecondStep } | { kind: 'refused' }

/** Finds the tenant and how to sign in to it. The service answers every name, so a wrong one is noticed only at the sign-in. */
export async function findTenant(organization: Exclude<Organization, undefined>): Promise<Found> {
  if ('tenant_id' in organization) return organization
  return answerOf(api.GET('/v1/auth/discovery', { params: { query: organization } }))
}

/**
 * Leads to the provider of the tenant, and from there back to this page. The service notes in this browser that the sign-in began here, so that no
 * other site can have a visitor signed in. False: it did not.
 */
export async function signInAtProvider(tenant_id: string): Promise<boolean> {
  const here = new URL(location.href)
  here.searchParams.delete('sign-in')
  const path = `${here.pathname}${here.search}`.replace(/^\/console\//, '')
  const { ok } = await fetch('/sign-in/console', { method: 'POST', body: new URLSearchParams({ tenant_id, path }) })
  if (ok) location.assign('/sign-in/provider')
  return ok
}

/** A client of one tenant, without a session. */
const clientOf = (tenantId: string, token?: string) =>
  createClient({ baseUrl: location.origin, tenantId, fetch: callService, ...(token !== undefined && { token }) })

/** Signs in by password. */
export async function signInByPassword(tenant_id: string, email: string, password: string): Promise<Outcome> {
  try {
    const body = { email, password }
    const { token } = await answerOf(clientOf(tenant_id).POST('/v1/auth/login', { body }))
    await staySignedIn(token)
    return { kind: 'signed in' }
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 401) throw error
    return error.code === 'second_factor_required'
      ? { kind: 'second step', step: readSecondStep(error) }
      : { kind: 'refused' }
  }
}

type SecondAnswer = { totp: string } | { recovery_code: string } | { passkey: Record<string, unknown> }

/** Finishes a sign-in. False: the answer is not accepted. */
export async function finishSignIn(challenge: string, answer: SecondAnswer): Promise<boolean> {
  try {
    const body = { challenge, ...answer }
    const { token } = await answerOf(api.POST('/v1/auth/second-factor', { body }))
    await staySignedIn(token)
    return true
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) return false
    throw error
  }
}

/** Exchanges the token for a session that no page can read, and forgets the token. */
async function staySignedIn(token: string): Promise<void> {
  const client = createClient({ baseUrl: location.origin, token, fetch: callService })
  await answerOf(client.POST('/v1/auth/session'))
}

function readSecondStep({ details }: Refusal): SecondStep {
  const { challenge, methods, passkey, expires_in } = details as Partial<SecondStep> & { expires_in?: number }
  return {
    challenge: String(challenge),
    expiresAt: performance.now() + Number(expires_in) * 1_000,
    methods: Array.isArray(methods) ? methods.map(String) : [],
    passkey,
  }
}
