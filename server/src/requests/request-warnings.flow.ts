import type { Tx } from '../kernel/context.ts'
import type { EvaluatedRequest } from './evaluate-request.flow.ts'
import { type Unapprovable, whyUnapprovable } from './possible-approvers.flow.ts'
import type { RequestWarning } from './request.ts'

const messages: Record<Unapprovable, string> = {
  by_nobody: 'by the current rules and roles no user may approve this request; ask an administrator to change them',
  not_joined:
    'nobody may approve this request yet, since an approver who was invited has not joined; ask an administrator to remind or ' +
    'invite them again, or to appoint another approver',
}

/** The warnings for a request. Only a request that waits for a person costs a query. */
export async function warningsOf(tx: Tx, evaluated: EvaluatedRequest): Promise<RequestWarning[]> {
  if (evaluated.decision.mode !== 'require') return []
  const why = await whyUnapprovable(tx, evaluated)
  return why === undefined ? [] : [{ code: 'nobody_may_approve', message: messages[why] }]
}
