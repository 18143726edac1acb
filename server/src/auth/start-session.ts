import { Type } from 'typebox'
import { cookiesOf } from '../http/cookie.ts'
import { operation } from '../http/operation.ts'
import { DateTime, Uuid } from '../http/schema.ts'
import { sessionCookie } from '../http/session-cookie.ts'
import { giveToBrowser } from '../sessions/held-session-store.ts'
import { makeSessionSecret, readSessionSecret } from '../sessions/session-secret.ts'
import { readSettings } from '../settings/setting-store.ts'
import { requireHeld } from './signed-in.ts'

const StartedSession = Type.Object(
  {
    id: Uuid,
    ends_at: DateTime,
    idle_seconds: Type.Integer({ description: 'it ends earlier when it is not used for so long' }),
  },
  { title: 'StartedSession' },
)

/**
 * Gives a browser the session of a sign-in, in a cookie that no page can read. It takes the token of a sign-in at most a minute old,
 * once: a token that leaks later is no way to stay signed in.
 */
export const startSession = operation({
  method: 'POST',
  path: '/v1/auth/session',
  summary: 'Stay signed in in this browser',
  credential: 'token',
  tenantHeader: 'optional',
  setsCookie: true,
  scope: null,
  refusesRehearsal: true,
  allowsOneFactor: true,
  replies: { 201: StartedSession },
  errors: [],
  changes: 'authority',
  async run(ctx, { header }) {
    const { tenant_id } = ctx.tx
    const cookie = sessionCookie(ctx.public_url)
    const settings = await readSettings(ctx.tx)
    const { maxSeconds = Number.POSITIVE_INFINITY } = cookie
    const limits = {
      max_seconds: Math.min(settings['auth.session_max_seconds'], maxSeconds),
      idle_seconds: Math.min(settings['auth.session_idle_seconds'], maxSeconds),
    }
    const { text, cookie_hash } = makeSessionSecret(tenant_id, String(ctx.session?.id))
    // What the browser had before, it can never send again.
    const replaced = cookiesOf(header('cookie'), cookie.name).flatMap((value) => readSessionSecret(value) ?? [])
    const { seconds_left, ...shown } = requireHeld(
      await giveToBrowser(ctx, { cookie_hash, limits, replaced: replaced.slice(0, 1) }),
    )
    ctx.setCookie(cookie.set(text, seconds_left))
    return { ...shown, idle_seconds: limits.idle_seconds }
  },
})
