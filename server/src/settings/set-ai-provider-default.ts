import { operation } from '../http/operation.ts'
import { Problem } from '../kernel/errors.ts'
import { AiProvider, AiProviderChoice } from './ai-provider.ts'
import { findDefaultType, getAiProvider, saveDefaultType } from './ai-provider-store.ts'

/** How often a choice starts anew because another came between its reading and its writing. */
const attempts = 5

/** Chooses the default. Choosing what is chosen already changes nothing and tells nothing. */
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
        // The answer to this choice, whatever another chose right after.
        return { ...(await getAiProvider(ctx.tx, type)), is_default: true }
      }
    }
    throw new Problem('version_conflict', 'the default is being changed by others; read it and set it again')
  },
})
