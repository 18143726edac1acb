import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { DecisionResult, DecisionsInput, requireDistinct } from './bulk-decision.ts'
import { decisionTurns } from './decision-turns.ts'
import { decideRequest } from './request-approval.flow.ts'

export const decideRequests = operation({
  method: 'POST',
  path: '/v1/requests/decisions',
  summary: 'Approve or deny up to 50 pending requests; each is decided by itself and has its own result',
  credential: 'any',
  scope: 'requests:approve',
  body: DecisionsInput,
  replies: {
    200: Type.Object({ results: Type.Array(DecisionResult, { description: 'in the order of the decisions' }) }),
  },
  errors: [],
  inEntries: true,
  // Before an `Idempotency-Key` is taken: the right body may then have it.
  async prepare(_ctx, { body }) {
    requireDistinct(body.decisions)
  },
  run({ tx, actor }, { body, answerEntry }) {
    const caller = { tenant_id: tx.tenant_id, user_id: actor.user_id ?? '' }
    return decisionTurns(caller, async (inTurn) => {
      const results: DecisionResult[] = []
      for (const { id, decision, reasoning } of requireDistinct(body.decisions)) {
        const status = decision === 'approve' ? 'approved' : 'denied'
        const answer = await answerEntry({
          name: id,
          inTurn,
          work: (ctx) => decideRequest(ctx, id, { status, reasoning }),
        })
        const { result: request, ...rest } = { result: undefined, ...answer }
        results.push({ id, ...rest, ...(request !== undefined && { request }) })
      }
      return { results }
    })
  },
})
