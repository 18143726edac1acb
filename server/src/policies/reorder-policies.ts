import { operation } from '../http/operation.ts'
import { invalidInput } from '../kernel/errors.ts'
import { Reorder, reorder, requireDistinctIds, unknownIdsFault } from './policy.ts'
import { lockPolicyPlaces, savePolicyPlaces } from './policy-store.ts'

/** Puts the listed policies into the given order on the places that they have now; the others keep theirs. */
export const reorderPolicies = operation({
  method: 'PATCH',
  path: '/v1/policies/reorder',
  summary: 'Reorder policies by priority',
  credential: 'any',
  scope: 'policies:write',
  body: Reorder,
  replies: { 204: null },
  errors: [],
  async run(ctx, { body }): Promise<undefined> {
    const ids = requireDistinctIds(body.ids)
    await ctx.tx.interactive(async (tx) => {
      const moves = reorder(await lockPolicyPlaces(tx), ids)
      // 400, as this operation is specified; elsewhere an unknown reference is 422.
      if (moves === undefined) throw invalidInput([unknownIdsFault('policies of this tenant')])
      await savePolicyPlaces({ ...ctx, tx }, moves, ids)
    })
  },
})
