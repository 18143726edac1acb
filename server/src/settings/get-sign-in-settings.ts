import { operation } from '../http/operation.ts'
import { SignInSetting, shownSignIn } from './sign-in-setting.ts'
import { findSignInSetting } from './sign-in-setting-store.ts'

/** How the tenant's people sign in by their own provider; its secret is never shown. */
export const getSignInSettings = operation({
  method: 'GET',
  path: '/v1/settings/sign-in',
  summary: 'Get the provider that people sign in by',
  credential: 'any',
  scope: 'settings:read',
  replies: { 200: SignInSetting },
  errors: [],
  run: async (ctx) => shownSignIn(await findSignInSetting(ctx.tx)),
})
