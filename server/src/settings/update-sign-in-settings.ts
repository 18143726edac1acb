import type { Static } from 'typebox'
import { keepRefusal } from '../events/keep-refusal.ts'
import { readIfMatch, recordTag, requireMatch } from '../http/if-match.ts'
import { type Input, operation } from '../http/operation.ts'
import { changeIn, SentBack } from '../http/sent-back.ts'
import type { Ctx } from '../kernel/context.ts'
import { invalidInput, Problem } from '../kernel/errors.ts'
import { endSessionsBy } from '../sessions/provider-session-store.ts'
import {
  readSignInSetting,
  requireMayNameProvider,
  SignInSetting,
  SignInSettingInput,
  shownSignIn,
  triesIssuer,
} from './sign-in-setting.ts'
import { findSignInSetting, saveSignInSetting, sealClientSecret } from './sign-in-setting-store.ts'

const SentSetting = SentBack(SignInSettingInput, SignInSetting)
type SentSetting = Static<typeof SentSetting>

/**
 * Replaces the settings of the tenant's sign-in provider as a whole. Setting another provider needs every scope, and the
 * provider must answer. Sign-ins in progress at the previous provider are refused, and sessions by another issuer end.
 */
export const updateSignInSettings = operation({
  method: 'PUT',
  path: '/v1/settings/sign-in',
  summary: 'Set the sign-in provider of the tenant',
  credential: 'any',
  scope: 'settings:write',
  keyOfSession: true,
  freshSignIn: true,
  body: SentSetting,
  replies: { 200: SignInSetting },
  errors: ['version_conflict'],
  changes: 'authority',
  etag: recordTag,
  takesIfMatch: true,
  async prepare(ctx, input) {
    const { before, checked } = await readChange(ctx, input)
    if (!triesIssuer(checked, before)) return
    const why = await ctx.providerSignIn.findIssuerFault(ctx.tx.tenant_id, checked.issuer)
    if (why !== undefined) throw invalidInput([{ pointer: '/issuer', why }])
  },
  async run(ctx, input) {
    const { before, checked, tags } = await readChange(ctx, input)
    const { client_secret: change } = checked
    const sealed = change === 'keep' ? undefined : change && (await sealClientSecret(ctx.sealer, ctx.tx, change.secret))
    const saved = await ctx.tx.interactive(async (tx) => {
      const inside = { ...ctx, tx }
      const now = await saveSignInSetting(inside, checked, before, sealed)
      // Nobody vouches any more for those who signed in by the former issuer. The caller's own session stays, to correct a mistake.
      const isAnother = now !== undefined && before !== undefined && before.issuer !== now.issuer
      if (isAnother) await endSessionsBy(inside, before.id, ctx.session?.id ?? null)
      return now
    })
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

/** The change that the caller sends, if it is valid and the caller may make it, and what it changes. */
async function readChange(ctx: Ctx, { body: sent, header }: Pick<Input<never, never, SentSetting>, 'body' | 'header'>) {
  const tags = readIfMatch(header('if-match'))
  const before = await findSignInSetting(ctx.tx)
  const body = changeIn(SignInSettingInput, sent, shownSignIn(before))
  await keepRefusal(ctx, { subject_type: 'setting', subject_id: 'sign-in' }, async () =>
    requireMayNameProvider(ctx.actor.scopes, body, before),
  )
  requireMatch(tags, recordTag(shownSignIn(before)))
  return { tags, before, checked: readSignInSetting(body, before) }
}
