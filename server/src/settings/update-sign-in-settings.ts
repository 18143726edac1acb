import { keepRefusal } from '../events/keep-refusal.ts'
import { readIfMatch, recordTag, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { changeIn, SentBack } from '../http/sent-back.ts'
import { invalidInput, Problem } from '../kernel/errors.ts'
import {
  readSignInSetting,
  requireMayNameProvider,
  SignInSetting,
  SignInSettingInput,
  shownSignIn,
  triesIssuer,
} from './sign-in-setting.ts'
import { findSignInSetting, saveSignInSetting, sealClientSecret } from './sign-in-setting-store.ts'

/**
 * Replaces the settings of the tenant's sign-in provider as a whole. Setting another provider needs every scope, and the
 * provider must answer. Sign-ins in progress at the previous provider are refused.
 */
export const updateSignInSettings = operation({
  method: 'PUT',
  path: '/v1/settings/sign-in',
  summary: 'Set the sign-in provider of the tenant',
  credential: 'any',
  scope: 'settings:write',
  body: SentBack(SignInSettingInput, SignInSetting),
  replies: { 200: SignInSetting },
  errors: ['version_conflict'],
  etag: recordTag,
  takesIfMatch: true,
  async run(ctx, { body: sent, header }) {
    const tags = readIfMatch(header('if-match'))
    const before = await findSignInSetting(ctx.tx)
    const body = changeIn(SignInSettingInput, sent, shownSignIn(before))
    await keepRefusal(ctx, { subject_type: 'setting', subject_id: 'sign-in' }, async () =>
      requireMayNameProvider(ctx.actor.scopes, body, before),
    )
    requireMatch(tags, recordTag(shownSignIn(before)))
    const checked = readSignInSetting(body, before)
    if (triesIssuer(checked, before)) {
      const why = await ctx.providerSignIn.findIssuerFault(ctx.tx.tenant_id, checked.issuer)
      if (why !== undefined) throw invalidInput([{ pointer: '/issuer', why }])
    }
    const { client_secret: change } = checked
    const sealed = change === 'keep' ? undefined : change && (await sealClientSecret(ctx.sealer, ctx.tx, change.secret))
    const saved = await saveSignInSetting(ctx, checked, before, sealed)
    if (saved === undefined) {
      requireMatch(tags, recordTag(shownSignIn(await findSignInSetting(ctx.tx))))
      throw new Problem(
        'version_conflict',
        'another request changed the sign-in settings meanwhile; read them and set them again',
      )
    }
    return shownSignIn(saved)
  },
})
