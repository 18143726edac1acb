import type { Statement, Tx } from '../kernel/context.ts'

/** Why a request's access is not given any more. */
export type Refusal = {
  /** For the holder. */
  reason: string
  /** For the audit log: ids and plain facts. */
  data: Record<string, unknown>
  /** The insert that keeps the decision; `refused` names a relation with the request's `id`, and is empty where nothing was refused. */
  insertDecision(refused: Statement): Statement
}

/** Policy's word about requests whose access is about to be given. */
export type PolicyVerdict = {
  /** True while the rules are those that were asked; for the `where` of the write that rests on it. */
  rulesUnchanged: Statement
  /** By request id; whatever is not among them may be given. */
  refused: ReadonlyMap<string, Refusal>
}

/**
 * Asks policy again about requests that were approved: as they were recorded, by the rules, people and resources as they
 * are now. Throws where one cannot be asked about: nothing is given then.
 */
export type Reauthorize = (tx: Tx, request_ids: readonly string[]) => Promise<PolicyVerdict>
