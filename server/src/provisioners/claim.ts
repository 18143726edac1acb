/**
 * The claim of a target: a note at the target itself that says which installation acts there. A copy of the database knows the same claim, but
 * only one of the two writes it further; the other finds a note that it did not write, and does nothing there. No I/O here.
 */
import { type Installation, saysReadOnly } from '../installation/installation.ts'
import type { Tx } from '../kernel/context.ts'
import { type Claim, type TargetClaims, TargetError } from './driver.ts'

/** What the database remembers of its own writing. */
export type KeptClaim = { token: string; token_before: string | null; epoch: number; beat_at: string }

/**
 * `ours`: the target has what we wrote last. `write`: it is ours to write, and ours is not there. `contested`: another installation or another
 * copy of this one acts there.
 */
export type ClaimVerdict = 'ours' | 'write' | 'contested'

/**
 * A failover loses the last seconds of commits, and so at most one beat. The beat at the target is then at most this much later than the one
 * that the database knows. A copy of the database that is read later than this after its making knows an older one.
 */
export const maxLostBeatMs = 300_000

/** What a claim found at the target means. Undefined: nothing was found there, or nothing is kept here. */
export function judgeClaim(
  { id, epoch, adopted_epoch }: Pick<Installation, 'id' | 'epoch' | 'adopted_epoch'>,
  kept: KeptClaim | undefined,
  found: Claim | undefined,
): ClaimVerdict {
  if (found === undefined) return 'write'
  const isOurs = found.installation === id
  if (isOurs && kept?.token === found.token) return kept.epoch === epoch ? 'ours' : 'write'
  // Ours was kept in its place, and did not arrive.
  if (kept?.token_before === found.token) return 'write'
  // The operator has said, since it was last written from here, that this is the original.
  if (adopted_epoch !== null && (kept === undefined || kept.epoch < adopted_epoch)) return 'write'
  if (isOurs && kept !== undefined && found.epoch === kept.epoch && kept.epoch < epoch) {
    const lostMs = Date.parse(found.at) - Date.parse(kept.beat_at)
    if (lostMs >= 0 && lostMs <= maxLostBeatMs) return 'write'
  }
  return 'contested'
}

/** Nothing is done at the target, and nothing has failed there. */
export class HeldBack extends TargetError {
  constructor(message: string) {
    super('transient', message)
    this.name = 'HeldBack'
  }
}

/** @throws HeldBack while nothing may be changed at targets */
export function requireWritable({ read_only }: Installation): void {
  if (read_only !== null) throw new HeldBack(saysReadOnly(read_only.reason))
}

/** Why nothing is done at a target that another claims. */
export function saysContested({ installation, epoch, at }: Claim, ours: string): string {
  const who =
    installation === ours ? 'another copy of this Sallyport' : `another Sallyport (installation ${installation})`
  return (
    `${who} acts at this target, in its epoch ${epoch}, last seen ${at}: nothing is done here. ` +
    'If this is the original, its operator stops the other one and types `npm run admin -- adopt`'
  )
}

/** The claims of this process's provisioners. */
export type Claims = {
  /**
   * Makes sure that a provisioner may change its target. Asks the target itself, unless it did within some minutes.
   * @throws HeldBack
   */
  require(tx: Tx, provisioner_id: string, claims: TargetClaims | null): Promise<void>
  /** The same, asking the target in any case, and writes the claim further. */
  beat(tx: Tx, provisioner_id: string, claims: TargetClaims | null): Promise<void>
}
