import { readIfMatch, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { changeIn, SentBack } from '../http/sent-back.ts'
import type { Ctx } from '../kernel/context.ts'
import { notFound } from '../kernel/errors.ts'
import { changeRules } from './cases/change-rules.flow.ts'
import { changedFields, Policy, PolicyChange, policyTag } from './policy.ts'
import { policyById, savePolicy } from './policy-store.ts'

/** Changes the fields sent. Where no value is new, it changes nothing, emits no event, and returns the policy. */
export const updatePolicy = operation({
  method: 'PATCH',
  path: '/v1/policies/{id}',
  summary: 'Update a policy',
  credential: 'any',
  scope: 'policies:write',
  params: IdParams,
  body: SentBack(PolicyChange, Policy),
  replies: { 200: Policy },
  errors: ['case_broken', 'invalid_policy', 'not_found'],
  etag: policyTag,
  takesIfMatch: true,
  run(ctx, { params, body, header }) {
    const tags = readIfMatch(header('if-match'))
    const save = async (inside: Ctx, [before]: Policy[]) => {
      if (before === undefined) throw notFound('policy')
      requireMatch(tags, policyTag(before))
      const change = changeIn(PolicyChange, body, before)
      const fields = changedFields(before, change)
      return fields.length === 0 ? before : savePolicy(inside, before, { to: change, fields })
    }
    const enables = ([before]: Policy[]) => before?.enabled === false && body.enabled === true
    return changeRules(ctx, policyById(ctx.tx, params.id), save, enables)
  },
})
