import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body } from '../http/schema.ts'
import { browserCookie, isFromPage } from './oidc-state.ts'
import { SignedIn } from './signed-in.ts'

/**
 * Finishes a sign-in by a provider. Whatever is wrong, the answer is the same: nobody learns which users, tenants and
 * providers there are.
 */
export const exchangeAuthorizationCode = operation({
  method: 'POST',
  path: '/v1/auth/callback',
  summary: 'Exchange an authorization code for a token',
  credential: 'none',
  scope: null,
  limitedBy: 'failures',
  body: Body({
    code: Type.String({ minLength: 1, maxLength: 10_000, description: 'as the provider gave it' }),
    redirect_uri: Type.String({ maxLength: 2_000, description: 'as the sign-in was begun with' }),
    state: Type.Optional(
      Type.String({
        maxLength: 1_000,
        description: 'as the provider gave it back; left out only where the global provider was asked, elsewhere',
      }),
    ),
    iss: Type.Optional(
      Type.String({ maxLength: 2_000, description: 'as the provider gave it, if it did (RFC 9207): compared' }),
    ),
  }),
  replies: { 200: SignedIn },
  errors: ['invalid_authorization_code'],
  async run(ctx, { body, header }) {
    const { code, redirect_uri, state, iss } = body
    const browsers = isFromPage(header) ? browserCookie(ctx.public_url).read(header) : null
    const from = { browsers, source_ip: ctx.source_ip, request_id: ctx.request_id }
    const who = await ctx.providerSignIn.finish({ code, redirect_uri, state, iss }, from)
    return ctx.tokens.issue(who)
  },
})
