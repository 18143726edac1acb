/**
 * A history: what the callers of one service, which runs as several processes, asked and were answered, by one monotonic clock.
 *
 * **What the service promises**, and these checks hold it to. All of it is about callers who compare what they saw: a call that
 * begins after another was answered is later, whichever process answered either.
 *
 * - *One order.* There is an order of all calls about a request, its grants and what extends them in which each answer is right, and
 *   which agrees with real time (strict serializability). Each call reads or writes in one statement or one transaction on the primary;
 *   no state of a request or grant is cached. So an acknowledged change is seen by all later reads, a read never goes back behind
 *   an earlier one, and lists, status views and the audit log agree with single reads.
 * - *One decision.* At most one of approve, deny, cancel and expiry takes a request out of `pending`. A refused call names the
 *   state that refused it, and who decided.
 * - *One life of a grant.* Only an approval makes grants, in the same moment. Only steps of `machine.ts` change them; only a call to
 *   end a grant, or what it extends, makes it `revoked`, with the name of the caller.
 * - *An extension is a grant of its own* (decision 76): `expires_at` of a grant is set once and never moves. Ending a grant ends its
 *   extensions and cancels a request for one, in the same moment.
 * - *Versions go forward.* `updated_at` never goes back; the `ETag` of a request changes with its state and never returns.
 * - *No answer* (a broken connection, 503, 500) leaves open whether and when a change takes effect. 500 is a fault of its own.
 *
 * Not promised: how soon a worker acts on what is due; the rights of a caller in the first five seconds after a change (decision 19);
 * that a list reads objects of different requests at one moment; the `ETag` of a grant, which also covers what follows from the time and
 * from its extensions.
 */

/** What was asked. `mode`: how policy answers a new request; `seconds`: the duration that was asked for or given. */
export type Call =
  | { name: 'create'; mode: 'require' | 'auto' }
  | { name: 'approve'; request: string; seconds: number | null }
  | {
      name: 'deny' | 'cancel' | 'read request' | 'read status' | 'list its grants' | 'read its events'
      request: string
    }
  | { name: 'extend' | 'revoke' | 'retry' | 'read grant' | 'read grant events'; grant: string }
  | { name: 'list own grants' | 'list own requests'; status: string | null }

/** `tag`: the `ETag`. */
export type Answer = { status: number; body: Record<string, unknown>; tag: string | null }

/** One call of a caller. A caller has one call at a time. */
export type Operation = {
  nth: number
  caller: { id: string; name: string }
  /** The process that was called. */
  process: number
  /** In milliseconds; `ended` is infinite where there was no answer that says what happened. */
  began: number
  ended: number
  call: Call
  answer: Answer | undefined
  /** Made before or between changes that this program made by itself, by which moments may have moved. */
  isSetup: boolean
}

/** A part of a history that contradicts itself, and the rule that says so. */
export type Violation = { rule: string; what: string; operations: readonly Operation[] }
