import type { Statement, Tx } from '../kernel/context.ts'

/** Why a request's access may no longer be given. */
export type Refusal = {
  /** For the holder. */
  reason: string
  /** For the audit log: ids and plain facts. */
  data: Record<string, unknown>
  /** The insert that keeps the decision. `refused` names a relation with the request's `id`; it is empty if no grant failed. */
  insertDecision(refused: Statement): Statement
}

/** Policy's verdict on requests whose access is about to be given. */
export type PolicyVerdict = {
  /** True while the rules are those that were evaluated; for the `where` of the write that depends on the verdict. */
  rulesUnchanged: Statement
  /** By request id. Access of any other request may be given. */
  refused: ReadonlyMap<string, Refusal>
}

/**
 * Reauthorizes approved requests: evaluates them as they were recorded against the current rules, people and resources.
 * Throws if a request cannot be evaluated; then no access is given.
 */
export type Reauthorize = (tx: Tx, request_ids: readonly string[]) => Promise<PolicyVerdict>
