import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { changeRules } from './cases/change-rules.flow.ts'
import { changedFields, Policy, PolicyChange } from './policy.ts'
import { policyById, savePolicy } from './policy-store.ts'

/** Changes the fields sent. Where no value is new, it changes nothing, emits no event, and returns the policy. */
export const updatePolicy = operation({
  method: 'PATCH',
  path: '/v1/policies/{id}',
  summary: 'Update a policy',
  credential: 'any',
  scope: 'policies:write',
  params: IdParams,
  body: PolicyChange,
  replies: { 200: Policy },
  errors: ['case_broken', 'not_found'],
  run: (ctx, { params, body }) =>
    changeRules(ctx, policyById(ctx.tx, params.id), async (inside, [before]) => {
      if (before === undefined) throw notFound('policy')
      const fields = changedFields(before, body)
      return fields.length === 0 ? before : savePolicy(inside, before, { to: body, fields })
    }),
})
