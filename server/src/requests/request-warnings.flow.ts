import type { Tx } from '../kernel/context.ts'
import type { EvaluatedRequest } from './evaluate-request.flow.ts'
import { isUnapprovable } from './possible-approvers.flow.ts'
import type { RequestWarning } from './request.ts'

const nobodyMayApprove: RequestWarning = {
  code: 'nobody_may_approve',
  message: 'as rules and roles are now, nobody may approve this request; ask an administrator to change that',
}

/** The warnings of what somebody asks. Only what waits for a person costs a look. */
export async function warningsOf(tx: Tx, asking: EvaluatedRequest): Promise<RequestWarning[]> {
  if (asking.decision.mode !== 'require') return []
  return (await isUnapprovable(tx, asking)) ? [nobodyMayApprove] : []
}
