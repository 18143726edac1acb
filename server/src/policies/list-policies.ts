import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { Policy } from './policy.ts'
import { listPoliciesPage } from './policy-store.ts'

export const listPolicies = operation({
  method: 'GET',
  path: '/v1/policies',
  summary: 'List policies with their rules, in order of priority',
  credential: 'any',
  scope: 'policies:read',
  query: Type.Object(pageQuery, { additionalProperties: false }),
  replies: { 200: PageOf(Policy) },
  errors: [],
  run: async (ctx, { page }) => page.of(await listPoliciesPage(ctx.tx, page), (policy) => [String(policy.priority)]),
})
