import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { AnyObject } from '../http/schema.ts'
import { publishedSchema } from '../policy-engine/cedar/published-schema.ts'
import { listUsedActions } from './rule-store.ts'

/** What rules are validated against, with the actions that the tenant has used: an editor completes from it. */
export const getPolicySchema = operation({
  method: 'GET',
  path: '/v1/policies/schema',
  summary: 'Get the Cedar schema of the questions; its text alone for `Accept: text/plain`',
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
