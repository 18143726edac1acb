import { operation } from '../http/operation.ts'
import { Problem } from '../kernel/errors.ts'
import { AiProvider, AiProviderChoice } from './ai-provider.ts'
import { findDefaultType, getAiProvider, saveDefaultType } from './ai-provider-store.ts'

/** How often a choice is tried when another comes between its read and its write. */
const attempts = 5

/** Chooses the default. Choosing the current default writes nothing and emits no event. */
export const setAiProviderDefault = operation({
  method: 'PUT',
  path: '/v1/settings/ai-provider-default',
  summary: 'Set the default AI provider',
  credential: 'any',
  scope: 'settings:write',
  body: AiProviderChoice,
  replies: { 200: AiProvider },
  errors: ['version_conflict'],
  async run(ctx, { body: { type } }) {
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const before = await findDefaultType(ctx.tx)
      if (before === type || (await saveDefaultType(ctx, { old: before ?? null, new: type }))) {
        // Return this choice, even if another request changed it right after.
        return { ...(await getAiProvider(ctx.tx, type)), is_default: true }
      }
    }
    throw new Problem('version_conflict', 'other requests are changing the default; read it and set it again')
  },
})
