import { SignedIn } from '../auth/signed-in.ts'
import { keepRefusal } from '../events/keep-refusal.ts'
import { operation } from '../http/operation.ts'
import { Body, Uuid } from '../http/schema.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { newId, readUuid } from '../kernel/id.ts'
import { rehearsalTokenSeconds, requireOwner, requireRehearsal } from './rehearsal.ts'
import { beginTokenSession } from './rehearsal-store.ts'

/**
 * A token for a person whom the rehearsal made, and for nobody else: a real person's id has the answer of an unknown one. It begins a
 * session that ends with it, and that no browser can take. What is done with it, the person does; the event names the owner.
 */
export const createRehearsalToken = operation({
  method: 'POST',
  path: '/v1/rehearsal/token',
  summary: 'Get a token of 15 minutes for a person of the rehearsal',
  credential: 'user',
  scope: null,
  keyOfSession: true,
  body: Body({ user_id: Uuid }),
  replies: { 201: SignedIn },
  errors: ['not_found', 'not_in_rehearsal', 'unprocessable'],
  run(ctx, { body, header }) {
    const user_id = readUuid(body.user_id) ?? body.user_id
    return keepRefusal(ctx, { subject_type: 'user', subject_id: user_id }, async () => {
      const { source_ip } = ctx
      const proof = { amr: [], auth_time: undefined, by: undefined }
      const from = { source_ip, user_agent: header('user-agent') }
      const session = { id: newId(), ...proof, ...from, lifetime_seconds: rehearsalTokenSeconds }
      const standing = await beginTokenSession(ctx, user_id, session)
      requireOwner(standing)
      requireRehearsal(standing)
      if (!standing.is_there) throw notFound('user')
      if (!standing.is_active) {
        throw new Problem('unprocessable', 'this person is deactivated or suspended; end that first')
      }
      const signedIn = { tenant_id: ctx.tx.tenant_id, user_id, session_id: session.id, now: new Date(standing.now) }
      return ctx.tokens.issue(signedIn, rehearsalTokenSeconds)
    })
  },
})
