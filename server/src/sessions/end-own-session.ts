import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { endSession } from './session-store.ts'

/** Ends one of the caller's own sessions: its tokens and its browser are signed out at once. */
export const endOwnSession = operation({
  method: 'DELETE',
  path: '/v1/users/me/sessions/{id}',
  summary: 'End one of your own sessions',
  credential: 'user',
  scope: null,
  params: IdParams,
  replies: { 204: null },
  errors: [],
  changes: 'authority',
  async run(ctx, { params }) {
    if ((await endSession(ctx, params.id, 'ended')) === undefined) throw notFound('session')
    return undefined
  },
})
