import { recordTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { inForce, requireSettingKey, Setting, SettingParams } from './setting.ts'
import { findSetting } from './setting-store.ts'

export const getSetting = operation({
  method: 'GET',
  path: '/v1/settings/{setting_key}',
  summary: 'Get a setting with its value or default',
  credential: 'any',
  scope: 'settings:read',
  params: SettingParams,
  replies: { 200: Setting },
  errors: [],
  etag: recordTag,
  async run(ctx, { params }) {
    const key = requireSettingKey(params.setting_key)
    return inForce(key, await findSetting(ctx.tx, key))
  },
})
