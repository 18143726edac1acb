import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Problem } from '../kernel/errors.ts'
import { makeRecoveryCodes } from './recovery-code.ts'
import { RecoveryCodes } from './second-factor.ts'
import { listFactors, replaceRecoveryCodes as replace } from './second-factor-store.ts'
import { requireStrongSignIn } from './strong-sign-in.ts'

/** Makes new recovery codes; the earlier ones are of no use any more. */
export const replaceRecoveryCodes = operation({
  method: 'POST',
  path: '/v1/users/me/recovery-codes',
  summary: 'Replace your recovery codes',
  credential: 'user',
  scope: null,
  refusesRehearsal: true,
  keyOfSession: true,
  replies: { 201: Type.Object({ recovery_codes: RecoveryCodes }, { title: 'NewRecoveryCodes' }) },
  errors: ['sign_in_again', 'unprocessable'],
  async run(ctx) {
    const factors = await listFactors(ctx.tx, ctx.actor.user_id)
    if (factors.length === 0) throw new Problem('unprocessable', 'you have no second factor: set one up first')
    requireStrongSignIn(ctx, { hasFactor: true })
    const recovery_codes = makeRecoveryCodes()
    await replace(ctx, recovery_codes)
    return { recovery_codes }
  },
})
