import { recordTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { notFound } from '../kernel/errors.ts'
import { ActionParams, DescribedAction, requireAction } from './action.ts'
import { findDescribedAction } from './action-store.ts'

export const getAction = operation({
  method: 'GET',
  path: '/v1/actions/{action}',
  summary: 'Get the description of an action',
  credential: 'any',
  scope: 'policies:read',
  params: ActionParams,
  replies: { 200: DescribedAction },
  errors: ['not_found'],
  etag: recordTag,
  async run(ctx, { params }) {
    const described = await findDescribedAction(ctx.tx, requireAction(params.action))
    if (described === undefined) throw notFound('action')
    return described
  },
})
