import { createHmac, randomBytes } from 'node:crypto'
import { bytesOfId, idLength, idOfBytes } from '../kernel/id.ts'
import { hashOf } from './session-secret.ts'

/** What a refresh token names: the session of a tenant, the family that it belongs to, and its own secret. */
export type RefreshClaim = {
  tenant_id: string
  id: string
  /** The hash of what all refresh tokens of the session have in common. */
  family_hash: Buffer
  refresh_hash: Buffer
  /**
   * The token that follows this one. Only who has this token can derive it, and only with the salt of its use, which the database keeps:
   * so the same use can be answered twice, and nothing at rest is a token.
   */
  successor(salt: Buffer): RefreshToken
}

/** A refresh token as it is given to a program; stored nowhere. */
export type RefreshToken = { text: string; family_hash: Buffer; refresh_hash: Buffer }

/** The prefix lets people and scanners recognize a leaked token. */
const prefix = 'spr_'
const secretLength = 32
/** The ids of tenant and session, the family's secret and the token's: 96 bytes in base64url, of which each letter counts. */
const form = /^spr_([\w-]{128})$/

/** Makes the first refresh token of a session. */
export function makeRefreshToken(tenant_id: string, id: string): RefreshToken {
  return written({ tenant_id, id, family: randomBytes(secretLength) }, randomBytes(secretLength))
}

/** A salt for the successor of a token. */
export function makeSuccessorSalt(): Buffer {
  return randomBytes(secretLength)
}

/** Undefined for a text that this service did not make. */
export function readRefreshToken(text: string): RefreshClaim | undefined {
  const [, encoded] = form.exec(text) ?? []
  if (encoded === undefined) return undefined
  const bytes = Buffer.from(encoded, 'base64url')
  const [family, secret] = [bytes.subarray(2 * idLength, -secretLength), bytes.subarray(-secretLength)]
  const tenant_id = idOfBytes(bytes.subarray(0, idLength))
  const id = idOfBytes(bytes.subarray(idLength, 2 * idLength))
  return {
    tenant_id,
    id,
    family_hash: hashOf(family),
    refresh_hash: hashOf(secret),
    successor: (salt) => written({ tenant_id, id, family }, createHmac('sha256', secret).update(salt).digest()),
  }
}

function written(of: { tenant_id: string; id: string; family: Buffer }, secret: Buffer): RefreshToken {
  const bytes = Buffer.concat([bytesOfId(of.tenant_id), bytesOfId(of.id), of.family, secret])
  return {
    text: prefix + bytes.toString('base64url'),
    family_hash: hashOf(of.family),
    refresh_hash: hashOf(secret),
  }
}
