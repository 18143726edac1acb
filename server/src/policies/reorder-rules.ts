import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound, unknownReferences } from '../kernel/errors.ts'
import { Reorder, reorder, requireDistinctIds, unknownIdsFault } from './policy.ts'
import { lockRulePlaces, saveRulePlaces } from './rule-store.ts'

/** Puts the listed rules into the given order on the places that they have now; the others keep theirs. */
export const reorderRules = operation({
  method: 'PATCH',
  path: '/v1/policies/{id}/rules/reorder',
  summary: 'Reorder the rules of a policy by ordinal',
  credential: 'any',
  scope: 'policies:write',
  params: IdParams,
  body: Reorder,
  replies: { 204: null },
  errors: ['not_found', 'unprocessable'],
  async run(ctx, { params, body }): Promise<undefined> {
    const ids = requireDistinctIds(body.ids)
    await ctx.tx.interactive(async (tx) => {
      const places = await lockRulePlaces(tx, params.id)
      if (places === undefined) throw notFound('policy')
      const moves = reorder(places, ids)
      if (moves === undefined) throw unknownReferences([unknownIdsFault('rules of this policy')])
      await saveRulePlaces({ ...ctx, tx }, params.id, { moves, ids })
    })
  },
})
