import { Type } from 'typebox'
import { keepRefusal } from '../events/keep-refusal.ts'
import { maxAttempts, readIfMatch, recordTag, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { Body, Documented } from '../http/schema.ts'
import { changeIn, SentBack } from '../http/sent-back.ts'
import { Problem } from '../kernel/errors.ts'
import {
  inForce,
  maxValueLength,
  requireMaySet,
  requireSettingKey,
  requireSettingValue,
  Setting,
  SettingParams,
} from './setting.ts'
import { findSetting, saveSetting } from './setting-store.ts'

const SettingChange = Body({
  value: Documented(
    Type.String({
      description: 'as text, in the form of the key: `3600`, `true`, `Europe/Berlin`; an error lists what a key takes',
    }),
    { maxLength: maxValueLength },
  ),
})

/** Sets one setting. Setting the current value writes nothing, emits no event, and returns the setting as it is. */
export const upsertSetting = operation({
  method: 'PUT',
  path: '/v1/settings/{setting_key}',
  summary: 'Set a setting',
  credential: 'any',
  scope: 'settings:write',
  params: SettingParams,
  body: SentBack(SettingChange, Setting),
  replies: { 200: Setting },
  errors: ['version_conflict'],
  changes: 'authority',
  etag: recordTag,
  takesIfMatch: true,
  async run(ctx, { params, body, header }) {
    const tags = readIfMatch(header('if-match'))
    const key = requireSettingKey(params.setting_key)
    requireSettingValue(key, body.value)
    await keepRefusal(ctx, { subject_type: 'setting', subject_id: key }, async () => requireMaySet(key, ctx))
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const before = await findSetting(ctx.tx, key)
      // The value is saved only in place of this one.
      const current = inForce(key, before)
      changeIn(SettingChange, body, current)
      requireMatch(tags, recordTag(current))
      if (before?.value === body.value) return before
      const saved = await saveSetting(ctx, key, { old: before?.value ?? null, new: body.value })
      if (saved !== undefined) return saved
    }
    throw new Problem('version_conflict', `other requests are changing \`${key}\`; read it and set it again`)
  },
})
