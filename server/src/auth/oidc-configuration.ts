import { createHash } from 'node:crypto'
import * as client from 'openid-client'
import type { Egress } from '../kernel/context.ts'
import { fetchOver } from './oidc-fetch.ts'
import { openProviderKeys, type ProviderKeys } from './provider-keys.ts'
import { clockLeeway, RefusedByProvider } from './redeemed-account.ts'

/** The service as a client of a provider. */
export type OidcClient = {
  issuer: string
  client_id: string
  /** Undefined: a public client. */
  client_secret: string | undefined
  /** Who configured the issuer. `egress` limits the addresses of a tenant's issuer; the operator's (null) may be anywhere. */
  tenant_id: string | null
}

/** The deadline of each call to a provider, in seconds. */
const maxCall = 5
const cachedForMs = 600_000
const maxCached = 1_000

/** A provider as it describes itself. */
export type OidcConfiguration = {
  configuration: client.Configuration
  /** The keys that sign its tokens. */
  keys: ProviderKeys
  /** A configuration that checks signed user info with the keys as they were fetched last. */
  forUserInfo(): client.Configuration
}

type Cached = { fingerprint: string; at: number; found: Promise<OidcConfiguration> }

/**
 * Fetches a provider's metadata and caches it for a while. Each tenant has one cache entry, so that a tenant that tries many
 * providers with long metadata cannot fill the memory.
 */
export function openConfigurations(egress: Egress) {
  const cached = new Map<string | null, Cached>()

  return (known: OidcClient): Promise<OidcConfiguration> => {
    const { tenant_id } = known
    const fingerprint = fingerprintOf(known)
    const before = cached.get(tenant_id)
    if (before?.fingerprint === fingerprint && performance.now() - before.at < cachedForMs) return before.found
    const found = discover(known, egress)
    const entry = { fingerprint, at: performance.now(), found }
    cached.delete(tenant_id)
    cached.set(tenant_id, entry)
    found.catch(() => {
      if (cached.get(tenant_id) === entry) cached.delete(tenant_id)
    })
    const [oldest] = cached.keys()
    if (cached.size > maxCached && oldest !== undefined) cached.delete(oldest)
    return found
  }
}

/** Includes the secret, so that a changed secret counts as another client. */
function fingerprintOf({ issuer, client_id, client_secret = '' }: OidcClient): string {
  return JSON.stringify([issuer, client_id, createHash('sha256').update(client_secret).digest('base64')])
}

/**
 * Fetches what a provider says of itself.
 * @throws RefusedByProvider or an error of the library if the provider is another one, or says too little
 */
export async function discover(known: OidcClient, egress: Egress): Promise<OidcConfiguration> {
  const guardedFetch = fetchOver(egress, known.tenant_id === null ? 'operator' : 'tenant')
  // Whether an issuer may use http is decided elsewhere: by the operator, and by EGRESS_ALLOW.
  const execute = known.issuer.startsWith('http:') ? [client.allowInsecureRequests] : []
  const options = { [client.customFetch]: guardedFetch, timeout: maxCall, execute }
  const found = await client
    .discovery(new URL(known.issuer), known.client_id, undefined, client.None(), options)
    .catch((error: unknown) => {
      throw otherIssuer(error) ?? error
    })
  const metadata = found.serverMetadata()
  if (metadata.issuer !== known.issuer) throw namesItself(metadata.issuer)
  const open = (): client.Configuration => {
    const configuration = new client.Configuration(
      usedOf(metadata),
      known.client_id,
      { [client.clockTolerance]: clockLeeway },
      authenticationOf(known, metadata.token_endpoint_auth_methods_supported),
    )
    configuration[client.customFetch] = guardedFetch
    configuration.timeout = maxCall
    for (const extend of execute) extend(configuration)
    return configuration
  }
  const keys = openProviderKeys(known.issuer, metadata.jwks_uri, guardedFetch)
  const forUserInfo = () => {
    const configuration = open()
    client.setJwksCache(configuration, keys.fetched())
    client.enableNonRepudiationChecks(configuration)
    return configuration
  }
  return { configuration: open(), keys, forUserInfo }
}

function namesItself(issuer: string): RefusedByProvider {
  return new RefusedByProvider(`the provider names itself \`${issuer.slice(0, 200)}\`: use exactly that`)
}

/** The refusal, if the library's error is that the provider names another issuer. */
function otherIssuer(error: unknown): RefusedByProvider | undefined {
  if (!(error instanceof client.ClientError) || error.code !== 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED')
    return undefined
  const { body } = error.cause as { body?: { issuer?: unknown } }
  return typeof body?.issuer === 'string' ? namesItself(body.issuer) : undefined
}

/** The metadata that is used. The rest may be long and is not kept. */
function usedOf(metadata: client.ServerMetadata): client.ServerMetadata {
  const { issuer, authorization_endpoint, token_endpoint, userinfo_endpoint, end_session_endpoint, jwks_uri } = metadata
  const { id_token_signing_alg_values_supported, userinfo_signing_alg_values_supported } = metadata
  const used = {
    ...{ issuer, authorization_endpoint, token_endpoint, userinfo_endpoint, end_session_endpoint, jwks_uri },
    ...{ id_token_signing_alg_values_supported, userinfo_signing_alg_values_supported },
  }
  return Object.fromEntries(Object.entries(used).filter(([, value]) => value !== undefined)) as client.ServerMetadata
}

function authenticationOf({ client_secret }: OidcClient, methods: string[] | undefined): client.ClientAuth {
  if (client_secret === undefined) return client.None()
  // A provider that names no methods accepts Basic.
  const basic = methods === undefined || methods.includes('client_secret_basic')
  return basic ? client.ClientSecretBasic(client_secret) : client.ClientSecretPost(client_secret)
}
