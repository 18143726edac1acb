/**
 * The claim of a target: a note at the target itself that says which installation acts there. A copy of the database knows the same claim, but
 * only one of the two writes it further; the other finds a note that it did not write, and does nothing there. No I/O here.
 */
import { type Installation, saysReadOnly } from '../installation/installation.ts'
import type { Tx } from '../kernel/context.ts'
import { TargetError } from './driver.ts'
import type { Claim, TargetClaims } from './target-claims.ts'

/**
 * What the database remembers of its own writing. `is_old`: that was so long ago that it is written further with the next act. `holder`: what was
 * found in place of it; null: it was ours.
 */
export type KeptClaim = {
  token: string
  token_before: string | null
  epoch: number
  beat_at: string
  is_old: boolean
  holder: FoundClaim | null
}

/** A claim as it was found. `is_signed`: by a holder of our root key. */
export type FoundClaim = Claim & { is_signed: boolean }

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
  self: Pick<Installation, 'id' | 'epoch' | 'adopted_epoch'>,
  kept: KeptClaim | undefined,
  found: FoundClaim | undefined,
): ClaimVerdict {
  const { id, epoch } = self
  if (isOverruled(self, kept, found)) return 'write'
  // Only the operator ends that, whatever becomes of the other one's note: this may be the copy.
  if (kept?.holder?.is_signed) return 'contested'
  if (found !== undefined && found.installation === id && kept?.token === found.token) {
    return kept.epoch === epoch ? 'ours' : 'write'
  }
  if (found === undefined) return 'write'
  return kept !== undefined && isOfOurs(self, kept, found) ? 'write' : 'contested'
}

/**
 * The operator has said, since the claim was last written from here, that this is the original. That overrules what was claimed before, and not a
 * copy of this database that was made since; and whatever was written without our key.
 */
export function isOverruled(
  { adopted_epoch }: Pick<Installation, 'adopted_epoch'>,
  kept: KeptClaim | undefined,
  found: FoundClaim | undefined,
): boolean {
  if (adopted_epoch === null || (kept !== undefined && kept.epoch >= adopted_epoch)) return false
  return found === undefined || !found.is_signed || found.epoch < adopted_epoch
}

/** Whether the note is one of our own, although it is not the last one. */
function isOfOurs({ id, epoch }: Pick<Installation, 'id' | 'epoch'>, kept: KeptClaim, found: FoundClaim): boolean {
  // Ours was kept in its place, and did not arrive.
  if (kept.token_before === found.token) return true
  if (found.installation !== id) return false
  const laterMs = Date.parse(found.at) - Date.parse(kept.beat_at)
  // The target was set back. Another copy that lives would have written since.
  if (laterMs <= 0 && found.epoch <= kept.epoch) return true
  return found.epoch === kept.epoch && kept.epoch < epoch && laterMs <= maxLostBeatMs
}

/** Nothing is done at the target, and nothing has failed there. */
export class HeldBack extends TargetError {
  constructor(message: string) {
    super('transient', message, true)
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

/** Why nothing is given at a target whose claim nobody with our root key has written. */
export const saysForged =
  'another party has written over the claim of this target: nothing is given here, and what was given is still ended. ' +
  'Find out who did; then the operator types `npm run admin -- adopt`'

/** Why a database that was just promoted waits. */
export const saysListening =
  'the database was promoted, and another copy of it may act at this target: nothing is done here for some minutes, to find out'

/** What is to be done at the target. */
export type ClaimedAct = 'gives' | 'takes'

/** The claims of this process's provisioners. */
export type Claims = {
  /**
   * Makes sure that a provisioner may change its target. Asks the target itself, unless it did within some minutes.
   * @throws HeldBack
   */
  require(tx: Tx, provisioner_id: string, claims: TargetClaims | null, act: ClaimedAct): Promise<void>
  /** The same, asking the target in any case, and writes the claim further. Returns whether the target keeps it. */
  beat(tx: Tx, provisioner_id: string, claims: TargetClaims | null): Promise<boolean>
}
