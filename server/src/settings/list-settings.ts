import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { inForce, Setting, settingKeys } from './setting.ts'
import { listStoredSettings } from './setting-store.ts'

/** Lists all settings by key, with the tenant's value or the default. */
export const listSettings = operation({
  method: 'GET',
  path: '/v1/settings',
  summary: 'List the settings with their values or defaults',
  credential: 'any',
  scope: 'settings:read',
  query: Type.Object(pageQuery, { additionalProperties: false }),
  replies: { 200: PageOf(Setting) },
  errors: [],
  async run(ctx, { page }) {
    const stored = new Map((await listStoredSettings(ctx.tx)).map((setting) => [setting.key, setting]))
    const [after = ''] = page.after ?? []
    const keys = settingKeys.filter((key) => key > after).slice(0, page.limit + 1)
    return page.of(
      keys.map((key) => inForce(key, stored.get(key))),
      (setting) => [setting.key],
    )
  },
})
