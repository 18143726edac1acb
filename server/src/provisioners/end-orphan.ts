import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body, Uuid } from '../http/schema.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { type EndOrphan, Orphan } from './orphan.ts'
import { findOrphan } from './orphan-list-store.ts'

const Params = Type.Object({ id: Uuid, orphan_id: Uuid })

/** For what a sweep held back, or sooner than its second look. What is not provably ours is ended at its target, by its administrator. */
export const endOrphan = (end: EndOrphan) =>
  operation({
    method: 'POST',
    path: '/v1/provisioners/{id}/orphans/{orphan_id}/end',
    summary: 'End access at a target that this installation gave and whose grant is lost; also needs grants:revoke',
    credential: 'any',
    scope: 'provisioners:write',
    params: Params,
    body: Body({}),
    replies: { 200: Orphan },
    errors: ['forbidden', 'not_found', 'orphan_not_endable'],
    async run(ctx, { params: { id: provisioner_id, orphan_id } }) {
      if (!ctx.actor.scopes.has('grants:revoke')) {
        throw new Problem('forbidden', 'ending access also needs the permission `grants:revoke`')
      }
      const of = { provisioner_id, orphan_id }
      const ended = await end(ctx, of)
      const orphan = await findOrphan(ctx.tx, of)
      if (orphan === undefined) throw notFound('orphan')
      if (!ended && orphan.status !== 'ending') throw notEndable(orphan)
      return orphan
    },
  })

function notEndable({ origin, target }: Orphan): Problem {
  const why =
    origin === 'ours'
      ? 'a grant wants it, or it is being changed; retry in a moment'
      : 'it is not proven that this installation gave it: an administrator of the target ends it there'
  return new Problem('orphan_not_endable', `the access is not ended: ${why}`, { details: { origin, target } })
}
