import type { Tx } from '../kernel/context.ts'
import type { EvaluatedRequest } from './evaluate-request.flow.ts'
import { isUnapprovable } from './possible-approvers.flow.ts'
import type { RequestWarning } from './request.ts'

const nobodyMayApprove: RequestWarning = {
  code: 'nobody_may_approve',
  message: 'by the current rules and roles no user may approve this request; ask an administrator to change them',
}

/** The warnings for a request. Only a request that waits for a person costs a query. */
export async function warningsOf(tx: Tx, evaluated: EvaluatedRequest): Promise<RequestWarning[]> {
  if (evaluated.decision.mode !== 'require') return []
  return (await isUnapprovable(tx, evaluated)) ? [nobodyMayApprove] : []
}
