import { Type } from 'typebox'
import { recordTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { inForce, requireSettingKey, Setting } from './setting.ts'
import { findSetting } from './setting-store.ts'

export const getSetting = operation({
  method: 'GET',
  path: '/v1/settings/{setting_key}',
  summary: 'Get a setting with its value or default',
  credential: 'any',
  scope: 'settings:read',
  params: Type.Object({ setting_key: Type.String({ description: 'a key from the list of settings' }) }),
  replies: { 200: Setting },
  errors: [],
  etag: recordTag,
  async run(ctx, { params }) {
    const key = requireSettingKey(params.setting_key)
    return inForce(key, await findSetting(ctx.tx, key))
  },
})
