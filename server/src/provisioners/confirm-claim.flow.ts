import { randomUUID } from 'node:crypto'
import type { Installation, InstallationState } from '../installation/installation.ts'
import { isClaimSigned, signClaim } from '../installation/mark.ts'
import type { WorkCtx } from '../kernel/context.ts'
import {
  type ClaimVerdict,
  type FoundClaim,
  HeldBack,
  isOverruled,
  judgeClaim,
  requireWritable,
  saysContested,
  saysListening,
} from './claim.ts'
import type { ClaimListener } from './claim-listener.ts'
import { findClaim, keepClaim, noteContested } from './claim-store.ts'
import { NoPlaceForClaim, NotNow, TargetError } from './driver.ts'
import { inTime, maxCallMs } from './in-time.ts'
import type { MarkKeys } from './marks.ts'
import type { TargetClaims } from './target-claims.ts'

type Dependencies = { installation: InstallationState; markKeys: MarkKeys; listener: ClaimListener }

/**
 * `forged`: what is at the target was written by a party without our root key. `isSettled`: ours is there, as far as is known. `isKept`: the
 * target keeps it.
 */
export type ConfirmedClaim = { epoch: number; forged: boolean; isSettled: boolean; isKept: boolean }

/**
 * Reads the claim of a provisioner from its target, and writes ours where it is to be there. `beats`: writes it further in any case.
 * @throws HeldBack when another one holds the target, or nothing may be changed at targets any more
 */
export async function confirmClaim(
  { installation, markKeys, listener }: Dependencies,
  ctx: WorkCtx,
  provisioner_id: string,
  claims: TargetClaims,
  beats: boolean,
): Promise<ConfirmedClaim> {
  let state = await installation.now()
  const whose = { tenant_id: ctx.tx.tenant_id, provisioner_id }
  try {
    const read = await inTime(maxCallMs, (signal) => claims.read(ctx.tx, signal))
    const there = read && { ...read, is_signed: isClaimSigned(markKeys.all(), read, whose) }
    const judge = async (self: Installation) => {
      // INVARIANT: the target is read before the database, which knows each claim of ours before the target does. In the other order, what another
      // process of this installation writes in between would seem to be another copy's, and only an operator would end that.
      const kept = await findClaim(ctx.tx, provisioner_id)
      const verdict = judgeClaim(self, kept, there)
      const hasMoved = verdict === 'write' && listener.hasMoved(provisioner_id, self, kept, there)
      return { kept, verdict: hasMoved ? 'contested' : verdict }
    }
    let judged = await judge(state)
    if (judged.verdict === 'contested') {
      // A failover may have begun an epoch that this process does not know yet. The kept claim is read after the epoch is: the one from before may
      // be that of the former database, which does not know what others of ours wrote since.
      state = await installation.check()
      requireWritable(state)
      judged = await judge(state)
    }
    const { epoch } = state
    const { kept, verdict } = judged
    if (verdict === 'contested') {
      return { epoch, forged: await noteHolder(ctx, provisioner_id, state.id, kept?.holder, there), ...unsettled }
    }
    const stays = verdict === 'ours' && !(listener.hasListened() && (beats || kept?.is_old))
    const isSettled = stays || (await write(ctx, provisioner_id, claims, { there, verdict, state, markKeys }))
    return { epoch, forged: false, isSettled, isKept: true }
  } catch (error) {
    if (!(error instanceof NoPlaceForClaim)) throw error
    // A target that keeps no claim is used without one, unless another one was seen there.
    const kept = await findClaim(ctx.tx, provisioner_id)
    const { holder = null } = kept ?? {}
    if (holder?.is_signed && !isOverruled(state, kept, holder)) throw new HeldBack(saysContested(holder, state.id))
    return { epoch: state.epoch, forged: false, isSettled: true, isKept: false }
  }
}

const unsettled = { isSettled: false, isKept: false }

/**
 * Notes who holds the target: what was seen there before, if it was another Sallyport. Returns true for a note that nobody with our key wrote.
 * @throws HeldBack for another Sallyport
 */
async function noteHolder(
  ctx: WorkCtx,
  provisioner_id: string,
  ours: string,
  before: FoundClaim | null | undefined,
  there: FoundClaim | undefined,
): Promise<true> {
  const holder = before?.is_signed && !there?.is_signed ? before : (there ?? before)
  if (holder == null) throw new HeldBack(saysListening)
  await noteContested(ctx, provisioner_id, holder)
  if (holder.is_signed) throw new HeldBack(saysContested(holder, ours))
  return true
}

type Found = { there: FoundClaim | undefined; verdict: ClaimVerdict; state: Installation; markKeys: MarkKeys }

/**
 * INVARIANT: the database knows a claim before the target does, so a process that is killed between the two still recognizes it. False: it could
 * not be written now, which keeps nothing from being ended.
 */
async function write(
  ctx: WorkCtx,
  provisioner_id: string,
  claims: TargetClaims,
  { there, verdict, state: { id, epoch }, markKeys }: Found,
): Promise<boolean> {
  const next = { epoch, token: randomUUID(), replaces: there?.token, beats: verdict === 'ours' }
  const kept = await keepClaim(ctx, provisioner_id, next)
  // It was deleted meanwhile.
  if (kept === undefined) return true
  const unsigned = { installation: id, epoch: kept.epoch, token: kept.token, at: new Date(kept.beat_at).toISOString() }
  // While several keys are kept, a copy from before their rotation knows the last of them.
  const signingKey = markKeys.all().at(-1) ?? markKeys.inUse()
  const claim = signClaim(signingKey, unsigned, { tenant_id: ctx.tx.tenant_id, provisioner_id })
  try {
    await inTime(maxCallMs, (signal) => claims.write(ctx.tx, claim, signal))
    return true
  } catch (error) {
    const isLate = error instanceof NotNow || error instanceof TargetError
    if (isLate && !(error instanceof NoPlaceForClaim)) return false
    throw error
  }
}
