import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Redirect, Uuid } from '../http/schema.ts'
import { browserCookie, isNavigation } from './oidc-state.ts'

/** Sends whoever wants to sign in to the tenant's provider. A browser is given a cookie, and must bring it back. */
export const beginAuthorization = operation({
  method: 'GET',
  path: '/v1/auth/authorize',
  summary: 'Begin a sign-in by the tenant’s provider',
  credential: 'none',
  scope: null,
  limitedBy: 'calls',
  query: Type.Object(
    {
      tenant: Uuid,
      redirect_uri: Type.String({ maxLength: 2_000, description: 'one of the sign-in settings, to the letter' }),
    },
    { additionalProperties: false },
  ),
  replies: { 302: Redirect },
  errors: ['not_found'],
  async run(ctx, { query, header }) {
    const { tenant: tenant_id, redirect_uri } = query
    const cookies = browserCookie(ctx.public_url)
    // A browser that has one already keeps it: two sign-ins in two tabs are both its own.
    const browser = isNavigation(header) ? (cookies.read(header)[0] ?? cookies.newSecret()) : null
    const location = await ctx.providerSignIn.begin({ tenant_id, redirect_uri, browser })
    return { location, ...(browser !== null && { cookie: cookies.set(browser) }) }
  },
})
