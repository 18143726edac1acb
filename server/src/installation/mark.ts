/** What is written at a target with what is given there, so that a later sweep can tell whose it is. Pure. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Mark } from './installation.ts'

/**
 * `signature`: shows that this installation wrote the mark, for this access. A mark can be copied to other access by who may write at the
 * target, and would not fit there.
 */
export type SignedMark = Mark & { signature: string }

/** The access that a mark is written for. `key`: its identity at the target. */
export type MarkedAccess = { tenant_id: string; provisioner_id: string; grant_id: string; key: string }

export function signMark(signingKey: Buffer, { installation, epoch }: Mark, access: MarkedAccess): SignedMark {
  return { installation, epoch, signature: signatureOf(signingKey, { installation, epoch }, access) }
}

/** Whether one of the keys signed the mark for this access. */
export function isSigned(signingKeys: readonly Buffer[], mark: SignedMark, access: MarkedAccess): boolean {
  return isSignedBy(signingKeys, mark.signature, (key) => signatureOf(key, mark, access))
}

function signatureOf(signingKey: Buffer, { installation, epoch }: Mark, access: MarkedAccess): string {
  const { tenant_id, provisioner_id, grant_id, key } = access
  return hmacOf(signingKey, ['access', installation, epoch, tenant_id, provisioner_id, grant_id, key])
}

/** A claim of a target without its signature. */
type UnsignedClaim = Mark & { token: string; at: string }

/** Whose claim it is. */
type Claimant = Pick<MarkedAccess, 'tenant_id' | 'provisioner_id'>

/** Who may write at the target, and has not the key, cannot write a claim that counts as another Sallyport's. */
export function signClaim<Unsigned extends UnsignedClaim>(
  signingKey: Buffer,
  claim: Unsigned,
  whose: Claimant,
): Unsigned & { signature: string } {
  return { ...claim, signature: claimSignature(signingKey, claim, whose) }
}

export function isClaimSigned(
  signingKeys: readonly Buffer[],
  claim: UnsignedClaim & { signature: string },
  whose: Claimant,
): boolean {
  return isSignedBy(signingKeys, claim.signature, (key) => claimSignature(key, claim, whose))
}

function claimSignature(signingKey: Buffer, claim: UnsignedClaim, { tenant_id, provisioner_id }: Claimant): string {
  const { installation, epoch, token, at } = claim
  return hmacOf(signingKey, ['claim', installation, epoch, token, at, tenant_id, provisioner_id])
}

function isSignedBy(signingKeys: readonly Buffer[], signature: string, make: (key: Buffer) => string): boolean {
  const said = Buffer.from(signature)
  return signingKeys.some((key) => {
    const made = Buffer.from(make(key))
    return made.length === said.length && timingSafeEqual(made, said)
  })
}

function hmacOf(signingKey: Buffer, parts: readonly (string | number)[]): string {
  return createHmac('sha256', signingKey).update(JSON.stringify(parts)).digest('base64url')
}
