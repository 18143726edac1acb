import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body } from '../http/schema.ts'
import { rateLimited } from '../kernel/bucket.ts'
import { invalidInput, Problem } from '../kernel/errors.ts'
import { hashPassword, passwordFaults, verifyPassword } from './password.ts'
import { findOwnPassword, replacePassword } from './password-store.ts'
import { userGone } from './profile.ts'
import { accountLimit, ownPasswordOf } from './sign-in-failure.ts'
import { countFailure } from './sign-in-failure-store.ts'

/**
 * Changes a local user's own password, and ends all their sessions but the one of this call. A wrong current password is a fault of that field (400), since the credential itself
 * is valid. It is recorded and limited like a failed sign-in, so that a stolen token cannot be used to guess the password.
 */
export const changeOwnPassword = operation({
  method: 'POST',
  path: '/v1/users/me/password',
  summary: 'Change your own password',
  credential: 'user',
  scope: null,
  refusesRehearsal: true,
  keyOfSession: true,
  body: Body({
    current_password: Type.String({ maxLength: 1000 }),
    new_password: Type.String({ maxLength: 1000 }),
  }),
  replies: { 204: null },
  errors: ['forbidden', 'version_conflict'],
  changes: 'authority',
  async run(ctx, { body }) {
    const found = await findOwnPassword(ctx.tx, ctx.actor.user_id)
    if (found === undefined) throw userGone()
    const { user_id, auth_provider, hash, limited_for, min_length } = found
    if (auth_provider !== 'local') {
      throw new Problem('forbidden', 'your identity provider manages your password: change it there')
    }
    const why = passwordFaults(body.new_password, { min_length })
    if (why !== undefined) throw invalidInput([{ pointer: '/new_password', why }])
    if (limited_for !== null) throw rateLimited(accountLimit, limited_for)
    if (!(await verifyPassword(ctx.tx, body.current_password, hash ?? undefined))) {
      const data = { cause: 'wrong_password', source_ip: ctx.source_ip }
      const problem = invalidInput([{ pointer: '/current_password', why: 'is not your password' }])
      const event = { type: 'auth.refused', subject_type: 'user', subject_id: user_id, data } as const
      const { failures, seconds_left } = await countFailure(ctx, ownPasswordOf(user_id), event)
      throw failures > accountLimit.quota ? rateLimited(accountLimit, seconds_left) : problem
    }
    const new_hash = await hashPassword(ctx.tx, body.new_password)
    if (await replacePassword(ctx, user_id, { old_hash: hash, new_hash, kept: ctx.session?.id ?? null }))
      return undefined
    throw new Problem('version_conflict', 'the password was changed by another request; sign in again')
  },
})
