import { operation } from '../../http/operation.ts'
import { Problem } from '../../kernel/errors.ts'
import { newId } from '../../kernel/id.ts'
import { maxDraftBodyBytes, withoutIgnoredInDraft } from '../../policies/drafts/draft.ts'
import { readPresent } from '../../policies/drafts/draft-store.ts'
import { applyDraft } from '../../policies/drafts/drafted.ts'
import { draftEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import { newLiterals, requireFewLiterals, requireMayRead } from '../../policy-facts/literals.ts'
import { isReadAtOnce, Replay, ReplayInput, requireAuditReader } from './replay.ts'
import { findReplayUnderWay, insertReplay } from './replay-store.ts'

const usualDays = 30

/** What a draft would change for past questions; runs in the background, one replay at a time per tenant. */
export const replayPolicies = operation({
  method: 'POST',
  path: '/v1/policies/replay',
  summary: 'Evaluate a draft of the policies on the questions of the last days',
  credential: 'any',
  scope: 'policies:read',
  body: ReplayInput,
  withoutIgnored: withoutIgnoredInDraft,
  bodyLimit: maxDraftBodyBytes,
  replies: { 202: Replay },
  location: ({ id }) => `/v1/policies/replay/${id}`,
  errors: ['invalid_policy', 'unprocessable', 'replay_in_progress'],
  async run(ctx, { body: { draft, days = usualDays } }) {
    requireAuditReader(ctx.actor)
    const id = newId()
    if (isReadAtOnce(draft)) {
      const of = { id, author: ctx.actor.user_id, pointer: '/draft' }
      const { before, after } = await applyDraft(await readPresent(ctx.tx, draft), draft, of)
      await requireFewLiterals(draftEvaluator, before, after)
      requireMayRead(ctx.actor.scopes, newLiterals(draftEvaluator, before, after))
    }
    const replay = await insertReplay(ctx, { id, draft, days })
    if (replay !== undefined) return replay
    const replay_id = await findReplayUnderWay(ctx.tx)
    throw new Problem('replay_in_progress', 'the tenant has a replay in progress; wait until it ends', {
      ...(replay_id !== undefined && { details: { replay_id } }),
    })
  },
})
