import { type Static, Type } from 'typebox'
import { AnyObject, DateTime, Nullable, OneOf, Uuid } from '../http/schema.ts'
import type { WorkCtx } from '../kernel/context.ts'

/** Access at a target that no grant of the ledger gave. */
export const Orphan = Type.Object(
  {
    id: Uuid,
    origin: OneOf(['ours', 'unproven', 'foreign_set'], {
      description:
        '`ours`: this installation gave it, as its mark proves, before a restore or a failover lost the grant; `unproven`: it has a mark of this ' +
        'tenant that does not prove that; `foreign_set`: by a permission set that Sallyport did not make, which carries no mark',
    }),
    status: OneOf(['listed', 'second_look', 'held_back', 'ending'], {
      description:
        '`listed`: a person decides, at the target; `second_look`: it is ended if a later sweep sees it again; `held_back`: a sweep found more ' +
        'than it ends by itself, so a person ends each; `ending`: it is being ended',
    }),
    target_key: Type.String({ description: 'its identity at the target' }),
    target: AnyObject,
    grant_id: Nullable(
      Type.String({
        description: 'with `ours`: the grant that it was given for, which is lost; null where the target does not say',
      }),
    ),
    epoch: Nullable(Type.Integer({ description: 'with `ours`: when it was given or before, in seconds since 1970' })),
    exclusive: Type.Boolean({
      description:
        'with `foreign_set`: the set has the tag `sallyport:exclusive`, so nobody else should assign it; these come first',
    }),
    first_seen_at: DateTime,
    listed_at: DateTime,
  },
  { title: 'Orphan' },
)
export type Orphan = Static<typeof Orphan>

/** Ends an orphan that is ours. Passed in, since the ledger knows provisioners. */
export type EndOrphan = (ctx: WorkCtx, of: { provisioner_id: string; orphan_id: string }) => Promise<boolean>
