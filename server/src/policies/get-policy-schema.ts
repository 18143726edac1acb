import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { AnyObject } from '../http/schema.ts'
import { publishedSchema } from '../policy-engine/cedar/published-schema.ts'
import { listUsedActions } from './rule-store.ts'

/** The schema against which rules are validated, with the actions that the tenant has used; editors use it for completion. */
export const getPolicySchema = operation({
  method: 'GET',
  path: '/v1/policies/schema',
  summary: 'Get the Cedar schema of the policy questions; plain text for `Accept: text/plain`',
  credential: 'any',
  scope: 'policies:read',
  replies: {
    200: Type.Object({
      cedar: Type.String({ description: 'In Cedar’s own notation.' }),
      json: Type.Unsafe<object>({ ...AnyObject, description: 'In Cedar’s JSON form.' }),
    }),
  },
  errors: [],
  replyText: ({ cedar }) => cedar,
  run: async (ctx) => publishedSchema(await listUsedActions(ctx.tx)),
})
