import { readIfMatch, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { always } from './cases/case-store.ts'
import { changeRules, changeRulesAtOnce } from './cases/change-rules.flow.ts'
import { policyTag } from './policy.ts'
import { deletePolicyById, policyById } from './policy-store.ts'

export const deletePolicy = operation({
  method: 'DELETE',
  path: '/v1/policies/{id}',
  summary: 'Delete a policy with its rules',
  credential: 'any',
  scope: 'policies:write',
  params: IdParams,
  replies: { 204: null },
  errors: ['case_broken', 'not_found'],
  takesIfMatch: true,
  async run(ctx, { params, header }): Promise<undefined> {
    const tags = readIfMatch(header('if-match'))
    if (tags === undefined) {
      const deleted = await changeRulesAtOnce(ctx, deletePolicyById(ctx, params.id))
      if (deleted.length === 0) throw notFound('policy')
      return
    }
    await changeRules(ctx, policyById(ctx.tx, params.id), async (inside, [before]) => {
      if (before === undefined) throw notFound('policy')
      requireMatch(tags, policyTag(before))
      await inside.tx.write([deletePolicyById(inside, params.id)(always)])
    })
  },
})
