import { createHmac, randomBytes } from 'node:crypto'
import type { TenantName } from '../kernel/context.ts'
import { idWithin, type TimeSpan } from '../kernel/id.ts'
import { deriveKey, type RootKey, type RootKeys } from '../secrets/root-key.ts'
import { seal, unsealWithAny } from '../secrets/seal.ts'

/** The key as sealed by a root key. */
export type SealedDiscoveryKey = { sealed_key: string; root_key_id: string }

/** The span in which the moments of tenants' ids lie. */
export type StoredSpan = { ids_from: string; ids_until: string }

/** The key as stored. Neither it nor the span ever changes; only the seal does. */
export type StoredDiscoveryKey = SealedDiscoveryKey & StoredSpan

/** From the key, a name that leads to no tenant gets its id. */
export type DiscoveryKey = { bytes: Buffer; span: TimeSpan }

/** A new random key, sealed with this root key. */
export function makeDiscoveryKey(root: RootKey): SealedDiscoveryKey {
  return sealWith(root, randomBytes(32))
}

/** @throws Error, the same for every cause, when none of the root keys here sealed it */
export function openDiscoveryKey(roots: RootKeys, stored: StoredDiscoveryKey): DiscoveryKey {
  return { bytes: unsealWith(roots, stored), span: spanOf(stored) }
}

/** The same key, sealed with this root key. */
export function resealDiscoveryKey(roots: RootKeys, root: RootKey, stored: StoredDiscoveryKey): SealedDiscoveryKey {
  return sealWith(root, unsealWith(roots, stored))
}

/**
 * The id of a name that leads to no tenant. It has the form of a tenant's id, is always the same for the name, and reveals neither the
 * key nor another id. A slug and a domain of the same letters get different ids.
 */
export function inventedId({ bytes, span }: DiscoveryKey, { kind, text }: TenantName): string {
  return idWithin(span, createHmac('sha256', bytes).update(`${kind} ${text}`).digest())
}

/**
 * The id of a new tenant. Its moment lies anywhere in the span, as that of an invented one: by the moment at which the tenant was made, the
 * two could be distinguished.
 */
export function newTenantId(span: StoredSpan): string {
  return idWithin(spanOf(span), randomBytes(16))
}

function spanOf({ ids_from, ids_until }: StoredSpan): TimeSpan {
  return { from: Date.parse(ids_from), until: Date.parse(ids_until) }
}

function unsealWith(roots: RootKeys, { sealed_key, root_key_id }: SealedDiscoveryKey): Buffer {
  const root = roots.find(root_key_id)
  return unsealWithAny(root === undefined ? [] : [sealingKey(root)], sealed_key, place)
}

function sealWith(root: RootKey, bytes: Buffer): SealedDiscoveryKey {
  return { sealed_key: seal(sealingKey(root), bytes, place), root_key_id: root.id }
}

function sealingKey({ bytes }: RootKey): Buffer {
  return deriveKey(bytes, 'discovery-key')
}

const place = ['discovery_key', 'discovery', 'sealed_key']
