import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body } from '../http/schema.ts'
import { Problem } from '../kernel/errors.ts'
import { Policy, PolicyDescription, PolicyEnabled, PolicyName, PolicyPriority, policyTag } from './policy.ts'
import { insertPolicy } from './policy-store.ts'

/** Creates a policy without rules: after all others, or with a priority that no other policy has. */
export const createPolicy = operation({
  method: 'POST',
  path: '/v1/policies',
  summary: 'Create a policy',
  credential: 'any',
  scope: 'policies:write',
  body: Body({
    name: PolicyName,
    description: Type.Optional(PolicyDescription),
    enabled: Type.Optional(PolicyEnabled),
    priority: Type.Optional(PolicyPriority),
  }),
  replies: { 201: Policy },
  location: ({ id }) => `/v1/policies/${id}`,
  errors: ['priority_taken'],
  etag: policyTag,
  async run(ctx, { body }) {
    const created = await insertPolicy(ctx, { description: '', enabled: true, ...body })
    if (created !== undefined) return created
    const message = `another policy has the priority \`${body.priority}\`; leave it out to come last, then reorder`
    throw new Problem('priority_taken', message)
  },
})
