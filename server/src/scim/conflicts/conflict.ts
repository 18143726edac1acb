import { type Static, Type } from 'typebox'
import { Body, DateTime, Nullable, Uuid } from '../../http/schema.ts'
import { Problem } from '../../kernel/errors.ts'
import type { Managed } from '../../users/managed.ts'

/** A user of a directory who is not made here, because somebody here has their address, or had their user name. */
export const Conflict = Type.Object(
  {
    id: Uuid,
    user_name: Type.String({ description: 'the `userName` in the directory' }),
    external_id: Nullable(Type.String()),
    email: Type.String({ description: 'the address in the directory' }),
    name: Type.String({ description: 'the name in the directory' }),
    user_id: Type.String({ ...Uuid, description: 'the user here who has the address, or the user name' }),
    holder_name: Type.String({ description: 'the name of the user here' }),
    holder_active: Type.Boolean({
      description: 'whether the user here is active; a settlement with them makes them so',
    }),
    of_directory: Type.Boolean({
      description:
        'the user here is one of this directory, which has stopped them: the person may have come back under another id, or got the address of one who left',
    }),
    kept_apart: Type.Boolean({ description: 'a person said that the two are not the same' }),
    created_at: DateTime,
    seen_at: Type.String({ ...DateTime, description: 'when the directory last sent the user' }),
  },
  { title: 'DirectoryConflict' },
)
export type Conflict = Static<typeof Conflict>

export const ConflictParams = Type.Object({ id: Uuid, conflict_id: Uuid })

export const Settlement = Body({
  user_id: Nullable(
    Type.String({
      ...Uuid,
      description: 'the user whom the directory manages from now on; null: nobody, they are kept apart',
    }),
  ),
  delete_user: Type.Optional(
    Type.Boolean({
      description:
        'with `user_id` null, where the user here is one whom this directory has stopped: deletes them, so that the address is free',
    }),
  ),
})
export type Settlement = Static<typeof Settlement>

/** The answer of a settlement: who the directory’s user is here. */
export const Settled = Type.Object({ user_id: Nullable(Uuid) }, { title: 'SettledConflict' })

/** 422 */
export const noSuchPerson = () =>
  new Problem('unprocessable', '`user_id` names no user, or one whom a directory manages, and has not stopped')

/** 422 */
export const switchedOff = () =>
  new Problem('unprocessable', 'the identity provider is switched off: set `enabled` to true first')

/** 422 */
export const notFormer = () =>
  new Problem('unprocessable', '`delete_user` is for a user whom this directory has stopped; this one is another')

/** Whether a directory may get this user by a settlement: nobody's, or one of its own whom it has stopped. */
export function maySettle({ identity_provider_id, active }: Managed & { active: boolean }, directory: string): boolean {
  return identity_provider_id === null || (identity_provider_id === directory && !active)
}
