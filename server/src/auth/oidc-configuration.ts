import { createHash } from 'node:crypto'
import * as client from 'openid-client'
import type { Egress } from '../kernel/context.ts'
import { fetchOver } from './oidc-fetch.ts'
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

type Cached = { fingerprint: string; at: number; configuration: Promise<client.Configuration> }

/**
 * Fetches a provider's metadata and caches it for a while. Each tenant has one cache entry, so that a tenant that tries many
 * providers with long metadata cannot fill the memory.
 */
export function openConfigurations(egress: Egress) {
  const cached = new Map<string | null, Cached>()

  return (known: OidcClient): Promise<client.Configuration> => {
    const { tenant_id } = known
    const fingerprint = fingerprintOf(known)
    const found = cached.get(tenant_id)
    if (found?.fingerprint === fingerprint && performance.now() - found.at < cachedForMs) return found.configuration
    const configuration = discover(known, egress)
    const entry = { fingerprint, at: performance.now(), configuration }
    cached.delete(tenant_id)
    cached.set(tenant_id, entry)
    configuration.catch(() => {
      if (cached.get(tenant_id) === entry) cached.delete(tenant_id)
    })
    const [oldest] = cached.keys()
    if (cached.size > maxCached && oldest !== undefined) cached.delete(oldest)
    return configuration
  }
}

/** Includes the secret, so that a changed secret counts as another client. */
function fingerprintOf({ issuer, client_id, client_secret = '' }: OidcClient): string {
  return JSON.stringify([issuer, client_id, createHash('sha256').update(client_secret).digest('base64')])
}

async function discover(known: OidcClient, egress: Egress): Promise<client.Configuration> {
  const guardedFetch = fetchOver(egress, known.tenant_id === null ? 'operator' : 'tenant')
  // Whether an issuer may use http is decided elsewhere: by the operator, and by EGRESS_ALLOW.
  const execute = known.issuer.startsWith('http:') ? [client.allowInsecureRequests] : []
  const found = await client.discovery(new URL(known.issuer), known.client_id, undefined, client.None(), {
    [client.customFetch]: guardedFetch,
    timeout: maxCall,
    execute,
  })
  const metadata = found.serverMetadata()
  if (metadata.issuer !== known.issuer) {
    throw new RefusedByProvider(`the provider calls itself \`${String(metadata.issuer).slice(0, 200)}\``)
  }
  const configuration = new client.Configuration(
    usedOf(metadata),
    known.client_id,
    { [client.clockTolerance]: clockLeeway },
    authenticationOf(known, metadata.token_endpoint_auth_methods_supported),
  )
  configuration[client.customFetch] = guardedFetch
  configuration.timeout = maxCall
  for (const extend of execute) extend(configuration)
  // Check the signature even though the token comes over TLS from the provider itself.
  client.enableNonRepudiationChecks(configuration)
  return configuration
}

/** The metadata that is used. The rest may be long and is not kept. */
function usedOf(metadata: client.ServerMetadata): client.ServerMetadata {
  const { issuer, authorization_endpoint, token_endpoint, userinfo_endpoint, jwks_uri } = metadata
  const { id_token_signing_alg_values_supported, userinfo_signing_alg_values_supported } = metadata
  const used = {
    ...{ issuer, authorization_endpoint, token_endpoint, userinfo_endpoint, jwks_uri },
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
