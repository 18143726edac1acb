import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Redirect, Uuid } from '../http/schema.ts'
import { browserCookie, isNavigation } from './oidc-state.ts'

/** Redirects the user to the tenant's identity provider. A browser receives a cookie, which it must send back at the end. */
export const beginAuthorization = operation({
  method: 'GET',
  path: '/v1/auth/authorize',
  summary: 'Begin a sign-in through the tenant’s identity provider',
  credential: 'none',
  scope: null,
  limitedBy: 'calls',
  setsCookie: true,
  query: Type.Object(
    {
      tenant: Uuid,
      redirect_uri: Type.String({ maxLength: 2_000, description: 'exactly one of the URIs in the sign-in settings' }),
      max_age: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 86_400,
          description: 'in seconds: the provider asks the user to sign in again if the sign-in there is older',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  replies: { 302: Redirect },
  errors: ['not_found'],
  async run(ctx, { query, header }) {
    const { tenant: tenant_id, redirect_uri, max_age = null } = query
    const cookies = browserCookie(ctx.public_url)
    // A browser keeps the cookie it has, so that sign-ins in two tabs both work.
    const browser = isNavigation(header) ? (cookies.read(header)[0] ?? cookies.newSecret()) : null
    const location = await ctx.providerSignIn.begin({ tenant_id, redirect_uri, max_age, browser })
    if (browser !== null) ctx.setCookie(cookies.set(browser))
    return { location }
  },
})
