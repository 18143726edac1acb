import { randomUUID } from 'node:crypto'
import type { Installation, InstallationState } from '../installation/installation.ts'
import { isClaimSigned, signClaim } from '../installation/mark.ts'
import type { WorkCtx } from '../kernel/context.ts'
import { type ClaimVerdict, HeldBack, judgeClaim, saysContested } from './claim.ts'
import type { ClaimListener } from './claim-listener.ts'
import { findClaim, keepClaim, noteContested } from './claim-store.ts'
import { NoPlaceForClaim, TargetError } from './driver.ts'
import { inTime, maxCallMs } from './in-time.ts'
import type { MarkKeys } from './marks.ts'
import type { Claim, TargetClaims } from './target-claims.ts'

type Dependencies = { installation: InstallationState; markKeys: MarkKeys; listener: ClaimListener }

/** `forged`: what is at the target was written by somebody without our root key. `isSettled`: ours is there, as far as is known. */
export type ConfirmedClaim = { epoch: number; forged: boolean; isSettled: boolean }

/**
 * Reads the claim of a provisioner from its target, and writes ours where it is to be there. `beats`: writes it further in any case.
 * @throws HeldBack when another one holds the target
 */
export async function confirmClaim(
  { installation, markKeys, listener }: Dependencies,
  ctx: WorkCtx,
  provisioner_id: string,
  claims: TargetClaims,
  beats: boolean,
): Promise<ConfirmedClaim> {
  const state = await installation.now()
  const { epoch } = state
  const there = await inTime(maxCallMs, (signal) => claims.read(ctx.tx, signal))
  const kept = await findClaim(ctx.tx, provisioner_id)
  const verdict = judgeClaim(state, kept, there)
  if (verdict === 'contested' || (verdict === 'write' && listener.hasMoved(provisioner_id, state, kept, there))) {
    const holder = there ?? kept?.holder
    if (holder == null) throw new Error('a claim is contested that is not there')
    await noteContested(ctx, provisioner_id, holder)
    const whose = { tenant_id: ctx.tx.tenant_id, provisioner_id }
    if (isClaimSigned(markKeys.all(), holder, whose)) throw new HeldBack(saysContested(holder, state.id))
    return { epoch, forged: true, isSettled: false }
  }
  const stays = verdict === 'ours' && !(listener.hasListened() && (beats || kept?.is_old))
  const isSettled = stays || (await write(ctx, provisioner_id, claims, { there, verdict, state, markKeys }))
  return { epoch, forged: false, isSettled }
}

type Found = { there: Claim | undefined; verdict: ClaimVerdict; state: Installation; markKeys: MarkKeys }

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
  const claim = signClaim(markKeys.inUse(), unsigned, { tenant_id: ctx.tx.tenant_id, provisioner_id })
  try {
    await inTime(maxCallMs, (signal) => claims.write(ctx.tx, claim, signal))
    return true
  } catch (error) {
    if (error instanceof TargetError && !(error instanceof NoPlaceForClaim)) return false
    throw error
  }
}
