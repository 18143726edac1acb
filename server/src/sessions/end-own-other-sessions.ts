import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { endOtherSessions } from './session-store.ts'

const Ended = Type.Object(
  { ended: Type.Integer({ description: 'how many sessions ended' }) },
  { title: 'EndedSessions' },
)

/** Ends all of the caller's own sessions but the one of this call: signs them out everywhere else. */
export const endOwnOtherSessions = operation({
  method: 'DELETE',
  path: '/v1/users/me/sessions',
  summary: 'End all your other sessions',
  credential: 'user',
  scope: null,
  replies: { 200: Ended },
  errors: [],
  changes: 'authority',
  async run(ctx) {
    return { ended: await endOtherSessions(ctx, ctx.session?.id ?? null) }
  },
})
