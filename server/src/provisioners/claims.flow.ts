import { randomUUID } from 'node:crypto'
import type { InstallationState } from '../installation/installation.ts'
import { systemActor, type Tx, type WorkCtx } from '../kernel/context.ts'
import { createLruCache } from '../kernel/lru-cache.ts'
import { type Claims, type ClaimVerdict, HeldBack, judgeClaim, requireWritable, saysContested } from './claim.ts'
import { findClaim, keepClaim, noteContested } from './claim-store.ts'
import { type Claim, NoPlaceForClaim, type TargetClaims } from './driver.ts'
import { inTime, maxCallMs } from './in-time.ts'

type ClaimsOptions = {
  installation: InstallationState
  /**
   * A process writes no claim further before it has run for so long. The original is heard from within this time: a copy that was just started
   * finds that out, and not the original that there is a copy.
   */
  listenMs?: number | undefined
}

const maxKnown = 10_000

/** For so long a claim that was read counts. Each sweep reads it. */
const freshForMs = 300_000

/** Longer than from one sweep of a provisioner to the next. */
const usualListenMs = 300_000

export function openClaims({ installation, listenMs = usualListenMs }: ClaimsOptions): Claims {
  const openedAt = performance.now()
  /** When the claim of a provisioner was last found to be ours, and in which epoch. */
  const found = createLruCache<{ at: number; epoch: number }>(maxKnown)

  const confirm = async (tx: Tx, provisioner_id: string, claims: TargetClaims, beats: boolean) => {
    const state = await installation.now()
    const ctx: WorkCtx = { tx, actor: systemActor, request_id: `provisioner:${provisioner_id}` }
    const there = await inTime(maxCallMs, (signal) => claims.read(tx, signal))
    const verdict = judgeClaim(state, await findClaim(tx, provisioner_id), there)
    if (verdict === 'contested') throw await contested(ctx, provisioner_id, there, state.id)
    if (verdict === 'write' || beats) await write(ctx, provisioner_id, claims, { there, verdict, ...state })
    found.set(provisioner_id, { at: performance.now(), epoch: state.epoch })
  }

  return {
    async require(tx, provisioner_id, claims) {
      const state = await installation.now()
      requireWritable(state)
      if (claims === null) return
      const last = found.get(provisioner_id)
      const isFresh = last?.epoch === state.epoch && performance.now() - last.at < freshForMs
      if (!isFresh) await whereKept(confirm(tx, provisioner_id, claims, false))
    },
    async beat(tx, provisioner_id, claims) {
      requireWritable(await installation.now())
      if (claims === null) return
      found.delete(provisioner_id)
      await whereKept(confirm(tx, provisioner_id, claims, performance.now() - openedAt >= listenMs))
    },
  }
}

/** A target that keeps no claim is used without one. */
async function whereKept(confirmed: Promise<void>): Promise<void> {
  try {
    await confirmed
  } catch (error) {
    if (!(error instanceof NoPlaceForClaim)) throw error
  }
}

async function contested(
  ctx: WorkCtx,
  provisioner_id: string,
  holder: Claim | undefined,
  ours: string,
): Promise<HeldBack> {
  if (holder === undefined) throw new Error('a claim is contested that is not there')
  await noteContested(ctx, provisioner_id, holder)
  return new HeldBack(saysContested(holder, ours))
}

type Found = { id: string; epoch: number; there: Claim | undefined; verdict: ClaimVerdict }

/** INVARIANT: the database knows a claim before the target does, so a process that is killed between the two still recognizes it. */
async function write(
  ctx: WorkCtx,
  provisioner_id: string,
  claims: TargetClaims,
  { id, epoch, there, verdict }: Found,
): Promise<void> {
  const next = { epoch, token: randomUUID(), replaces: there?.token, beats: verdict === 'ours' }
  const kept = await keepClaim(ctx, provisioner_id, next)
  // It was deleted meanwhile.
  if (kept === undefined) return
  const { token, beat_at: at } = kept
  await inTime(maxCallMs, (signal) => claims.write(ctx.tx, { installation: id, epoch, token, at }, signal))
}
