import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body } from '../http/schema.ts'

/** The body that providers send; they may send more. */
const LogoutForm = Body({ logout_token: Type.String({ minLength: 1, maxLength: 20_000 }) })

/**
 * Receives a provider's word that a person signed out there, or was disabled (OpenID Connect Back-Channel Logout 1.0), and ends their
 * sessions here. The token itself is the credential.
 */
export const receiveLogoutToken = operation({
  method: 'POST',
  path: '/v1/auth/back-channel-logout/{provider}',
  summary: 'End the sessions of a user who signed out at their identity provider',
  credential: 'none',
  scope: null,
  limitedBy: 'logouts',
  params: Type.Object({
    provider: Type.String({ description: 'the `id` in the sign-in settings, or `global` for the operator’s provider' }),
  }),
  bodyType: 'form',
  body: LogoutForm,
  withoutIgnored: logoutTokenIn,
  replies: { 200: Type.Object({}, { title: 'LogoutAccepted' }) },
  errors: [],
  async run(ctx, { params, body, header }) {
    const { source_ip, request_id } = ctx
    const from = { source_ip, request_id, user_agent: header('user-agent') }
    await ctx.providerSignIn.obeyLogoutToken({ provider: params.provider, logout_token: body.logout_token }, from)
    return {}
  },
})

function logoutTokenIn(sent: unknown): unknown {
  const { logout_token } = (sent ?? {}) as { logout_token?: unknown }
  return { ...(logout_token !== undefined && { logout_token }) }
}
