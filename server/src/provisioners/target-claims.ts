import type { Mark } from '../installation/installation.ts'
import type { Tx } from '../kernel/context.ts'

/**
 * What is written at the target. `token`: by which the writer recognizes it. `at`: when, by the clock of the writer's database. `signature`: shows
 * that a holder of our root key wrote it; a claim without it is read nevertheless.
 */
export type Claim = Mark & { token: string; at: string; signature: string }

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Reads a claim as a target keeps it; undefined where it has not the form of one, and so is nobody's. */
export function readClaim(said: Partial<Record<keyof Claim, unknown>>): Claim | undefined {
  const { installation, epoch, token, at, signature = '' } = said
  const isNamed = [installation, token].every((id) => typeof id === 'string' && uuid.test(id))
  const isTime = typeof at === 'string' && /^[\dT:.Z+-]{20,40}$/.test(at) && !Number.isNaN(Date.parse(at))
  if (!isNamed || !isTime || !Number.isSafeInteger(epoch) || typeof signature !== 'string') return undefined
  return {
    installation: String(installation),
    epoch: Number(epoch),
    token: String(token),
    at,
    signature: signature.slice(0, 100),
  }
}

/**
 * The claim of a provisioner at its target. Each provisioner has its own, also where several act at one target. @throws TargetError;
 * `NoPlaceForClaim` where the target refuses to keep one
 */
export type TargetClaims = {
  read(tx: Tx, signal: AbortSignal): Promise<Claim | undefined>
  write(tx: Tx, claim: Claim, signal: AbortSignal): Promise<void>
}
