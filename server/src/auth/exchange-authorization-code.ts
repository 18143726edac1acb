import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body } from '../http/schema.ts'
import { browserCookie, isFromPage } from './oidc-state.ts'
import { SignedIn } from './signed-in.ts'

/**
 * Finishes a sign-in through a provider. Every refusal is the same, so that it does not reveal which users, tenants and
 * providers exist.
 */
export const exchangeAuthorizationCode = operation({
  method: 'POST',
  path: '/v1/auth/callback',
  summary: 'Exchange an authorization code for a token',
  credential: 'none',
  scope: null,
  limitedBy: 'failures',
  body: Body({
    code: Type.String({ minLength: 1, maxLength: 10_000, description: 'the code that the provider returned' }),
    redirect_uri: Type.String({ maxLength: 2_000, description: 'the one that the sign-in began with' }),
    state: Type.Optional(
      Type.String({
        maxLength: 1_000,
        description:
          'the state that the provider returned; left out only for a sign-in by the global provider, begun elsewhere',
      }),
    ),
    iss: Type.Optional(
      Type.String({
        maxLength: 2_000,
        description: 'the issuer that the provider returned, if any (RFC 9207); it is checked',
      }),
    ),
  }),
  replies: { 200: SignedIn },
  errors: ['invalid_authorization_code', 'tenant_suspended'],
  async run(ctx, { body, header }) {
    const { code, redirect_uri, state, iss } = body
    const browsers = isFromPage(header) ? browserCookie(ctx.public_url).read(header) : null
    const { source_ip, request_id } = ctx
    const from = { browsers, source_ip, user_agent: header('user-agent'), request_id }
    return ctx.tokens.issue(await ctx.providerSignIn.finish({ code, redirect_uri, state, iss }, from))
  },
})
