import { randomBytes } from 'node:crypto'
import { deriveKey, type RootKey } from './root-key.ts'
import { seal, unseal } from './seal.ts'

/** A tenant's data key as stored: wrapped by a root key, for this tenant and version only. */
export type WrappedKey = { version: number; root_key_id: string; wrapped_key: string }

/** A new wrapped data key. The plain key is not available until it is read back and unwrapped. */
export function makeTenantKey(root: RootKey, tenant_id: string, version: number): WrappedKey {
  return wrap(root, randomBytes(32), tenant_id, version)
}

/** @throws Error, the same for every cause, for a key that was wrapped with another root key, or for another tenant */
export function unwrapTenantKey(root: RootKey, { version, wrapped_key }: WrappedKey, tenant_id: string): Buffer {
  return unseal(wrappingKey(root), wrapped_key, placeOf(tenant_id, version))
}

/** The same data key, wrapped by another root key. */
export function rewrapTenantKey(from: RootKey, to: RootKey, wrapped: WrappedKey, tenant_id: string): WrappedKey {
  return wrap(to, unwrapTenantKey(from, wrapped, tenant_id), tenant_id, wrapped.version)
}

function wrap(root: RootKey, key: Buffer, tenant_id: string, version: number): WrappedKey {
  return { version, root_key_id: root.id, wrapped_key: seal(wrappingKey(root), key, placeOf(tenant_id, version)) }
}

function wrappingKey({ bytes }: RootKey): Buffer {
  return deriveKey(bytes, 'tenant-key')
}

function placeOf(tenant_id: string, version: number): string[] {
  return [tenant_id, 'tenant_key', `${version}`, 'wrapped_key']
}
