import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { changedFields, Policy, PolicyChange } from './policy.ts'
import { lockPolicy, savePolicy } from './policy-store.ts'

/** Changes the fields sent. What would change nothing changes nothing, tells nothing, and answers the policy as it is. */
export const updatePolicy = operation({
  method: 'PATCH',
  path: '/v1/policies/{id}',
  summary: 'Update a policy',
  credential: 'any',
  scope: 'policies:write',
  params: IdParams,
  body: PolicyChange,
  replies: { 200: Policy },
  errors: ['not_found'],
  run: (ctx, { params, body }) =>
    ctx.tx.interactive(async (tx) => {
      const before = await lockPolicy(tx, params.id)
      if (before === undefined) throw notFound('policy')
      const fields = changedFields(before, body)
      return fields.length === 0 ? before : savePolicy({ ...ctx, tx }, before, { to: body, fields })
    }),
})
