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
  const said = Buffer.from(mark.signature)
  return signingKeys.some((key) => {
    const made = Buffer.from(signatureOf(key, mark, access))
    return made.length === said.length && timingSafeEqual(made, said)
  })
}

function signatureOf(signingKey: Buffer, { installation, epoch }: Mark, access: MarkedAccess): string {
  const { tenant_id, provisioner_id, grant_id, key } = access
  const text = JSON.stringify([installation, epoch, tenant_id, provisioner_id, grant_id, key])
  return createHmac('sha256', signingKey).update(text).digest('base64url')
}
