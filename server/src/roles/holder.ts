import { type Static, Type } from 'typebox'
import { Nullable, Uuid } from '../http/schema.ts'
import { Problem } from '../kernel/errors.ts'

/** One way in which a user holds a role: themselves, or by a group. */
export const RoleHolder = Type.Object(
  {
    user_id: Uuid,
    user_name: Type.String(),
    group_id: Nullable(Type.String({ format: 'uuid', description: 'null where the user has the role themselves' })),
    group_name: Nullable(Type.String({ description: 'null without a group, and for callers without `groups:read`' })),
  },
  { title: 'RoleHolder' },
)
export type RoleHolder = Static<typeof RoleHolder>

/** Holders are users: 403 without the scope to read those. */
export function requireUserReader(actor: { scopes: ReadonlySet<string> }): void {
  if (actor.scopes.has('users:read')) return
  throw new Problem('forbidden', 'the holders of a role need the scope `users:read` in addition to `roles:read`', {
    details: { scope: 'users:read' },
  })
}
