import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { DateTime, Uuid } from '../http/schema.ts'
import { giveToProgram } from '../sessions/held-session-store.ts'
import { makeRefreshToken } from '../sessions/refresh-token.ts'
import { readSettings } from '../settings/setting-store.ts'
import { RefreshTokenText, requireHeld } from './signed-in.ts'

const IssuedRefreshToken = Type.Object(
  {
    id: Uuid,
    refresh_token: RefreshTokenText,
    ends_at: DateTime,
    idle_seconds: Type.Integer({ description: 'the session ends earlier when it is not used for so long' }),
  },
  { title: 'IssuedRefreshToken' },
)

/**
 * Gives a program the session of a sign-in, with a refresh token. It takes the token of a sign-in at most a minute old, once: a token that
 * leaks later is no way to stay signed in.
 */
export const issueRefreshToken = operation({
  method: 'POST',
  path: '/v1/auth/refresh-token',
  summary: 'Get a refresh token, with which a program stays signed in',
  credential: 'token',
  tenantHeader: 'optional',
  scope: null,
  refusesRehearsal: true,
  replies: { 201: IssuedRefreshToken },
  errors: [],
  async run(ctx) {
    const settings = await readSettings(ctx.tx)
    const idle_seconds = settings['auth.refresh_idle_seconds']
    const limits = { max_seconds: settings['auth.refresh_max_seconds'], idle_seconds }
    const token = makeRefreshToken(ctx.tx.tenant_id, String(ctx.session?.id))
    const { id, ends_at } = requireHeld(await giveToProgram(ctx, token, limits))
    return { id, refresh_token: token.text, ends_at, idle_seconds }
  },
})
