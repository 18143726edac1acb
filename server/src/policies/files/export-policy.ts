import { recordTag } from '../../http/if-match.ts'
import { operation } from '../../http/operation.ts'
import { IdParams } from '../../http/schema.ts'
import { notFound } from '../../kernel/errors.ts'
import { PolicyFile, writePolicyFile } from './policy-file.ts'
import { findFiledPolicy } from './policy-file-store.ts'

export const exportPolicy = operation({
  method: 'GET',
  path: '/v1/policies/{id}/cedar',
  summary: 'Export the rules of a policy as a `.cedar` file; the file itself for `Accept: text/plain`',
  credential: 'any',
  scope: 'policies:read',
  params: IdParams,
  replies: { 200: PolicyFile },
  errors: ['not_found'],
  etag: recordTag,
  replyText: ({ cedar }) => cedar,
  async run(ctx, { params }) {
    const policy = await findFiledPolicy(ctx.tx, params.id)
    if (policy === undefined) throw notFound('policy')
    return { cedar: writePolicyFile(policy) }
  },
})
