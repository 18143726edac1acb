import type { Tx } from '../kernel/context.ts'

/** Whom access is for and what was approved: all that a plan may be made from. */
export type GrantAsk = {
  grant_id: string
  user: { id: string; email: string; name: string }
  resource: { type: string; id: string }
  /** The account that the resource lies in; null where nobody knows. */
  account_id: string | null
  /** The permission set to give on the account; null where the action names what is given. */
  permission_set: string | null
  action: string
  duration_seconds: number
}

/** What the target should hold, in its own terms. */
export type Plan = {
  /** The target's own identity of it: two grants with one key are one entitlement. */
  key: string
  /** Whatever the provisioner needs to act again later; kept as JSON. */
  target: Record<string, unknown>
  /** It is there already, before any act of ours. */
  held: boolean
}

/** How an act on a target ended, or the reference to ask about it with. */
export type Progress = { done: true } | { done: false; reference: string }

/**
 * A target of one kind. Each function is idempotent and can be resumed by name: granting twice is one entitlement,
 * revoking twice, or what was never there, succeeds. Failures are thrown as `TargetError`. `signal`: the caller waits no
 * longer; what was begun may still land.
 */
export type Provisioner = {
  name: string
  /** Resolves who and what, changes nothing. */
  plan(tx: Tx, ask: GrantAsk, signal: AbortSignal): Promise<Plan>
  grant(tx: Tx, target: Plan['target'], signal: AbortSignal): Promise<Progress>
  revoke(tx: Tx, target: Plan['target'], signal: AbortSignal): Promise<Progress>
  poll(tx: Tx, reference: string, signal: AbortSignal): Promise<Progress>
  /** Whether the target holds it now, read from the target itself. */
  verify(tx: Tx, target: Plan['target'], signal: AbortSignal): Promise<boolean>
  /** Milliseconds until the next poll, after so many. */
  pollAfterMs(polls: number): number
}

/** What a target answered instead of doing it: `transient` may pass by itself, `permanent` will not. */
export class TargetError extends Error {
  readonly kind: 'transient' | 'permanent'

  constructor(kind: 'transient' | 'permanent', message: string) {
    super(message)
    this.name = 'TargetError'
    this.kind = kind
  }
}
