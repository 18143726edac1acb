import { keepRefusal } from '../events/keep-refusal.ts'
import { recordTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { newId } from '../kernel/id.ts'
import { readSettings } from '../settings/setting-store.ts'
import { avatarBody } from './avatar.ts'
import { hashPassword, passwordFaults } from './password.ts'
import { NewUserInput, readNewUser, requireMayGrant, User } from './user.ts'
import { insertUser } from './user-store.ts'

/** Creates a user. The roles must carry no scope that the caller lacks. */
export const createUser = operation({
  method: 'POST',
  path: '/v1/users',
  summary: 'Create a new user',
  credential: 'any',
  scope: 'users:write',
  keyOfSession: true,
  freshSignIn: true,
  body: NewUserInput,
  ...avatarBody,
  replies: { 201: User },
  location: ({ id }) => `/v1/users/${id}`,
  errors: ['user_exists', 'unprocessable'],
  changes: 'authority',
  etag: recordTag,
  async run(ctx, { body }) {
    const settings = await readSettings(ctx.tx)
    const rules = { min_length: settings['auth.password_min_length'] }
    const { password, ...user } = readNewUser(body, (text) => passwordFaults(text, rules))
    const id = newId()
    await keepRefusal(ctx, { subject_type: 'user', subject_id: id }, async () =>
      requireMayGrant(ctx.actor.scopes, user.roles),
    )
    const password_hash = password === undefined ? null : await hashPassword(ctx.tx, password)
    return insertUser(ctx, { ...user, id, password_hash, is_owner: false })
  },
})
