import { Type } from 'typebox'
import { keepRefusal } from '../events/keep-refusal.ts'
import { operation } from '../http/operation.ts'
import { Body, DateTime, OneOf } from '../http/schema.ts'
import type { Ctx } from '../kernel/context.ts'
import { invalidInput } from '../kernel/errors.ts'
import { isFresh, signInAgain } from '../kernel/fresh-sign-in.ts'
import type { GoLive } from '../tenants/mode.ts'
import { requireOwner } from './rehearsal.ts'
import { findStanding, isOwner, readRehearsal } from './rehearsal-store.ts'

const Live = Type.Object({ mode: OneOf(['live'] as const), live_since: DateTime }, { title: 'Live' })

/** Has the tenant go live by hand. There is no way back, so the owner types its name. A live tenant stays as it is. */
export const goLive = (goLiveNow: GoLive) =>
  operation({
    method: 'POST',
    path: '/v1/tenant/go-live',
    summary: 'End the rehearsal: what the tenant grants is real from then on',
    credential: 'user',
    scope: null,
    keyOfSession: true,
    body: Body({ confirm: Type.String({ maxLength: 1000, description: 'the name of the tenant' }) }),
    replies: { 200: Live },
    errors: ['case_broken', 'sign_in_again'],
    changes: 'authority',
    run(ctx, { body }) {
      return keepRefusal(ctx, { subject_type: 'tenant', subject_id: ctx.tx.tenant_id }, async () => {
        const { name, mode, is_owner } = await findStanding(ctx.tx, ctx.actor.user_id)
        requireOwner({ is_owner })
        requireRecentSignIn(ctx)
        if (body.confirm !== name) {
          throw invalidInput([{ pointer: '/confirm', why: `must be the name of the tenant, \`${name}\`` }])
        }
        const went = mode === 'live' || (await goLiveNow(ctx, 'owner', isOwner(ctx.tx, ctx.actor.user_id)))
        const now = await readRehearsal(ctx.tx)
        // Another call was faster with either: it had the tenant go live, or took the ownership.
        if (!went) requireOwner({ is_owner: now.mode === 'live' })
        if (now.live_since === null) throw new Error('a live tenant does not say since when')
        return { mode: 'live' as const, live_since: now.live_since }
      })
    },
  })

/** As in a live tenant, although it is none yet. @throws Problem 403 `sign_in_again` */
function requireRecentSignIn({ session, now }: Ctx): void {
  if (session !== null && isFresh(session, now)) return
  throw signInAgain('this needs a sign-in within the last hour; sign in again, then send it again', null)
}
