import { type Static, Type } from 'typebox'
import { Body, DateTime, Nullable, Uuid } from '../../http/schema.ts'
import { Problem } from '../../kernel/errors.ts'

/** A user of a directory who is not made here, because somebody else has their address. */
export const Conflict = Type.Object(
  {
    id: Uuid,
    user_name: Type.String({ description: 'the `userName` in the directory' }),
    external_id: Nullable(Type.String()),
    email: Type.String({ description: 'the address that both have' }),
    name: Type.String({ description: 'the name in the directory' }),
    user_id: Type.String({ ...Uuid, description: 'the user here who has the address' }),
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
})

/** The answer of a settlement: who the directory’s user is here. */
export const Settled = Type.Object({ user_id: Nullable(Uuid) }, { title: 'SettledConflict' })

/** 422 */
export const noSuchPerson = () =>
  new Problem('unprocessable', '`user_id` names no user, or one whom a directory manages already')
