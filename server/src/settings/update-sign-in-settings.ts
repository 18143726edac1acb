import { keepRefusal } from '../events/keep-refusal.ts'
import { operation } from '../http/operation.ts'
import { Problem } from '../kernel/errors.ts'
import {
  readSignInSetting,
  requireMayNameProvider,
  SignInSetting,
  SignInSettingInput,
  shownSignIn,
} from './sign-in-setting.ts'
import { findSignInSetting, saveSignInSetting, sealClientSecret } from './sign-in-setting-store.ts'

/**
 * Sets, as a whole, the provider that the tenant's people sign in by. Another provider is named by whoever holds every
 * scope. Sign-ins under way at another end refused.
 */
export const updateSignInSettings = operation({
  method: 'PUT',
  path: '/v1/settings/sign-in',
  summary: 'Set the provider that people sign in by',
  credential: 'any',
  scope: 'settings:write',
  body: SignInSettingInput,
  replies: { 200: SignInSetting },
  errors: ['version_conflict'],
  async run(ctx, { body }) {
    const before = await findSignInSetting(ctx.tx)
    await keepRefusal(ctx, { subject_type: 'setting', subject_id: 'sign-in' }, async () =>
      requireMayNameProvider(ctx.actor.scopes, body, before),
    )
    // Whoever switches it off need not have an issuer that may be called.
    const fault = body.enabled === false ? undefined : await ctx.egress.findFault(body.issuer)
    const checked = readSignInSetting(body, before, fault)
    const { client_secret: change } = checked
    const sealed = change === 'keep' ? undefined : change && (await sealClientSecret(ctx.sealer, ctx.tx, change.secret))
    const saved = await saveSignInSetting(ctx, checked, before, sealed)
    if (saved === undefined) {
      throw new Problem('version_conflict', 'the sign-in settings were changed meanwhile; read them and set them again')
    }
    return shownSignIn(saved)
  },
})
