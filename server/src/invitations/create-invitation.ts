import { keepRefusal } from '../events/keep-refusal.ts'
import { operation } from '../http/operation.ts'
import { newId } from '../kernel/id.ts'
import { planRoles, readRoleIds, scopesOfRoles } from '../roles/role.ts'
import { findRoles } from '../roles/role-store.ts'
import { insertUser } from '../users/user-store.ts'
import { InvitationInput, MadeInvitation, requireEmail } from './invitation.ts'
import { invite } from './invite.flow.ts'

/**
 * Creates a local user without a password, as whom nobody can sign in yet, and the link by which the person joins. The roles must carry
 * no scope that the caller lacks.
 */
export const createInvitation = operation({
  method: 'POST',
  path: '/v1/invitations',
  summary: 'Create a user and invite the person by a link',
  credential: 'any',
  scope: 'users:write',
  keyOfSession: true,
  freshSignIn: true,
  body: InvitationInput,
  replies: { 201: MadeInvitation },
  location: ({ user_id }) => `/v1/users/${user_id}`,
  errors: ['user_exists', 'unprocessable'],
  changes: 'authority',
  run(ctx, { body }) {
    const email = requireEmail(body.email)
    const wanted = readRoleIds(body.roles)
    const id = newId()
    return keepRefusal(ctx, { subject_type: 'user', subject_id: id }, () =>
      ctx.tx.interactive(async (tx) => {
        const inside = { ...ctx, tx }
        const known = await findRoles(tx, wanted)
        const { added: roles } = planRoles([], wanted, known, ctx.actor.scopes)
        const user = { id, email, name: body.name, roles, auth_provider: 'local', avatar_base64: null } as const
        await insertUser(inside, { ...user, password_hash: null, is_owner: false })
        return invite(inside, { user_id: id, vouched_scopes: scopesOfRoles(known, roles) })
      }),
    )
  },
})
