import { recordTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { SignInSetting, shownSignIn } from './sign-in-setting.ts'
import { findWholeSignIn } from './sign-in-setting-store.ts'

/** Returns the settings of the tenant's own sign-in provider, without its secret. */
export const getSignInSettings = operation({
  method: 'GET',
  path: '/v1/settings/sign-in',
  summary: 'Get the sign-in provider of the tenant',
  credential: 'any',
  scope: 'settings:read',
  replies: { 200: SignInSetting },
  errors: [],
  etag: recordTag,
  run: async (ctx) => shownSignIn(await findWholeSignIn(ctx.tx)),
})
