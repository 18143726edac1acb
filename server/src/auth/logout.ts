import { Type } from 'typebox'
import { cookiesOf } from '../http/cookie.ts'
import { operation } from '../http/operation.ts'
import { Nullable } from '../http/schema.ts'
import { sessionCookie } from '../http/session-cookie.ts'
import { readSessionSecret } from '../sessions/session-secret.ts'
import { endSession } from '../sessions/session-store.ts'

const SignedOut = Type.Object(
  {
    provider_logout_url: Nullable(
      Type.String({ description: 'where to send the browser to sign out of the identity provider too; null: nowhere' }),
    ),
  },
  { title: 'SignedOut' },
)

/** Ends the session of the call, with its tokens and its cookie. The session at the identity provider ends in the browser. */
export const logout = operation({
  method: 'POST',
  path: '/v1/auth/logout',
  summary: 'Sign out',
  credential: 'user',
  tenantHeader: 'optional',
  setsCookie: true,
  // It only ends the session of the call, which may have ended at the same moment.
  confirms: false,
  scope: null,
  allowsOneFactor: true,
  replies: { 200: SignedOut },
  errors: [],
  changes: 'authority',
  async run(ctx, { header }) {
    const ended = await endSession(ctx, String(ctx.session?.id), 'signed_out')
    const cookie = sessionCookie(ctx.public_url)
    const held = cookiesOf(header('cookie'), cookie.name).map((value) => readSessionSecret(value)?.id)
    if (held.includes(ctx.session?.id)) ctx.setCookie(cookie.clear())
    const provider = ended?.provider ?? null
    const url = provider === null ? undefined : await ctx.providerSignIn.findLogoutUrl(ctx.tx.tenant_id, provider)
    return { provider_logout_url: url ?? null }
  },
})
