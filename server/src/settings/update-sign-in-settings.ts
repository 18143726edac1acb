import type { Static } from 'typebox'
import { keepRefusal } from '../events/keep-refusal.ts'
import { isEmpty, type MappingChange, planMappings, type WantedMapping } from '../groups/group-mapping.ts'
import { findMappings, mappingsLock, saveMappings, takeOverMappings } from '../groups/group-mapping-store.ts'
import { readIfMatch, recordTag, requireMatch } from '../http/if-match.ts'
import { type Input, operation } from '../http/operation.ts'
import { changeIn, SentBack } from '../http/sent-back.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { invalidInput, Problem } from '../kernel/errors.ts'
import { endSessionsBy } from '../sessions/provider-session-store.ts'
import {
  type CheckedSignIn,
  isAnotherSource,
  readSignInSetting,
  requireMayNameProvider,
  SignInSetting,
  SignInSettingInput,
  shownSignIn,
  triesIssuer,
  type WholeSignIn,
} from './sign-in-setting.ts'
import { findWholeSignIn, saveSignInSetting, sealClientSecret } from './sign-in-setting-store.ts'

const subject = { subject_type: 'setting', subject_id: 'sign-in' }
const SentSetting = SentBack(SignInSettingInput, SignInSetting)
type SentSetting = Static<typeof SentSetting>

/**
 * Replaces the settings of the tenant's sign-in provider as a whole. Setting another provider needs every scope, and the provider must
 * answer. A mapping to a group needs every scope that the group gives. Sign-ins in progress at the previous provider are refused, and
 * sessions by another issuer end.
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
  errors: ['unprocessable', 'version_conflict'],
  changes: 'authority',
  etag: recordTag,
  takesIfMatch: true,
  async prepare(ctx, input) {
    const { before, checked } = await keepRefusal(ctx, subject, () => readChange(ctx, input))
    if (!triesIssuer(checked, before)) return
    const why = await ctx.providerSignIn.findIssuerFault(ctx.tx.tenant_id, checked.issuer)
    if (why !== undefined) throw invalidInput([{ pointer: '/issuer', why }])
  },
  async run(ctx, input) {
    const save = async (tx: Tx) => {
      const inside = { ...ctx, tx }
      // Sealed before the lock, as sealing may wait for the rotation of a key.
      const seen = await readChange(inside, input)
      const sealed = await sealChange(inside, seen)
      // INVARIANT: what the caller saw is compared under the lock: a mapping that went out of effect since is not vouched for unseen.
      await tx.write([mappingsLock(tx)])
      const { before, checked } = await readChange(inside, input)
      if (before?.version !== seen.before?.version) return undefined
      const mappings = await planChange(inside, checked.group_mappings, before)
      const now = await saveSignInSetting(inside, checked, before, { sealed, mappings })
      if (now === undefined) return undefined
      // Nobody vouches any more for those who signed in by the former issuer. The caller's own session stays, to correct a mistake.
      const isAnother = before !== undefined && before.issuer !== now.issuer
      if (isAnother) await endSessionsBy(inside, before.id, ctx.session?.id ?? null)
      if (isAnotherSource(now, before)) await takeOverMappings(inside)
      if (!isEmpty(mappings)) await saveMappings(inside, mappings)
      return findWholeSignIn(tx)
    }
    const saved = await keepRefusal(ctx, subject, () => ctx.tx.interactive(save))
    if (saved === undefined) {
      throw new Problem(
        'version_conflict',
        'another request changed the sign-in settings meanwhile; read them and set them again',
      )
    }
    return shownSignIn(saved)
  },
})

/** The new sealed secret; null: none; undefined: the stored one stays. */
async function sealChange({ sealer, tx }: Ctx, { checked: { client_secret: change } }: { checked: CheckedSignIn }) {
  return change === 'keep' ? undefined : change && (await sealClientSecret(sealer, tx, change.secret))
}

/** What changes in the mappings, by the rights of this moment; nothing where the caller sends none. */
async function planChange(
  { tx, actor }: Pick<Ctx, 'tx' | 'actor'>,
  wanted: readonly WantedMapping[] | undefined,
  before: WholeSignIn | undefined,
): Promise<MappingChange> {
  if (wanted === undefined) return { added: [], removed: [], vouched: [] }
  const group_ids = wanted.map(({ group_id }) => group_id)
  const { held, groups } = await findMappings(tx, before?.id, group_ids)
  return planMappings(held, wanted, groups, actor.scopes)
}

/** The change that the caller sends, if it is valid and the caller may make it, and what it changes. */
async function readChange(ctx: Ctx, { body: sent, header }: Pick<Input<never, never, SentSetting>, 'body' | 'header'>) {
  const tags = readIfMatch(header('if-match'))
  const before = await findWholeSignIn(ctx.tx)
  const body = changeIn(SignInSettingInput, sent, shownSignIn(before))
  requireMayNameProvider(ctx.actor.scopes, body, before)
  requireMatch(tags, recordTag(shownSignIn(before)))
  return { before, checked: readSignInSetting(body, before) }
}
