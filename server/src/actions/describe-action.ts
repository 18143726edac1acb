import { maxAttempts, readIfMatch, recordTag, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { changeIn, SentBack } from '../http/sent-back.ts'
import { ActionDescriptionInput, ActionParams, changesMeanwhile, DescribedAction, requireAction } from './action.ts'
import { findDescribedAction, insertDescription, updateDescription } from './action-store.ts'

/**
 * Describes an action, whether or not a rule names it yet. The present description again writes nothing and emits no event.
 */
export const describeAction = operation({
  method: 'PUT',
  path: '/v1/actions/{action}',
  summary: 'Describe an action',
  credential: 'any',
  scope: 'policies:write',
  params: ActionParams,
  body: SentBack(ActionDescriptionInput, DescribedAction),
  replies: { 200: DescribedAction },
  errors: ['unprocessable', 'version_conflict'],
  etag: recordTag,
  takesIfMatch: true,
  async run(ctx, { params, body, header }) {
    const tags = readIfMatch(header('if-match'))
    const action = requireAction(params.action)
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const before = await findDescribedAction(ctx.tx, action)
      const { description } = changeIn(ActionDescriptionInput, body, before ?? { action })
      requireMatch(tags, before && recordTag(before))
      if (before?.description === description) return before
      // Guarded by what was read.
      const saved =
        before === undefined
          ? await insertDescription(ctx, action, description)
          : await updateDescription(ctx, before, description)
      if (saved !== undefined) return saved
    }
    throw changesMeanwhile(action)
  },
})
