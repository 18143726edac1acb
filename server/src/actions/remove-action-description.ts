import { maxAttempts, readIfMatch, recordTag, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { notFound } from '../kernel/errors.ts'
import { ActionParams, changesMeanwhile, requireAction } from './action.ts'
import { deleteDescription, findDescribedAction } from './action-store.ts'

export const removeActionDescription = operation({
  method: 'DELETE',
  path: '/v1/actions/{action}',
  summary: 'Remove the description of an action; rules and requests that name the action stay',
  credential: 'any',
  scope: 'policies:write',
  params: ActionParams,
  replies: { 204: null },
  errors: ['not_found', 'version_conflict'],
  takesIfMatch: true,
  async run(ctx, { params, header }): Promise<undefined> {
    const tags = readIfMatch(header('if-match'))
    const action = requireAction(params.action)
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const before = await findDescribedAction(ctx.tx, action)
      if (before === undefined) throw notFound('action')
      requireMatch(tags, recordTag(before))
      if (await deleteDescription(ctx, before)) return
    }
    throw changesMeanwhile(action)
  },
})
