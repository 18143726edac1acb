import { Type } from 'typebox'
import { DateTime } from '../http/schema.ts'

/** The reply of every sign-in. */
export const SignedIn = Type.Object(
  { token: Type.String({ description: 'a JWT, to send as `Authorization: Bearer`' }), expires_at: DateTime },
  { title: 'SignedIn' },
)
