import { operation } from '../../http/operation.ts'
import { casesTag, KeptCases } from './case.ts'
import { listCases } from './case-store.ts'

/** All cases, in their order. */
export const listPolicyCases = operation({
  method: 'GET',
  path: '/v1/policies/cases',
  summary: 'List the policy cases: policy questions with their expected answers',
  credential: 'any',
  scope: 'policies:read',
  replies: { 200: KeptCases },
  errors: [],
  etag: casesTag,
  async run(ctx) {
    return { cases: await listCases(ctx.tx) }
  },
})
