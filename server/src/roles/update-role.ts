import { keepRefusal } from '../events/keep-refusal.ts'
import { readIfMatch, requireMatch } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { changeIn, SentBack } from '../http/sent-back.ts'
import type { WorkCtx } from '../kernel/context.ts'
import { notFound } from '../kernel/errors.ts'
import { holdsRole } from './holding-store.ts'
import { asRole, planChange, Role, RoleChange, RoleParams, readRoleId, requireScopes, roleTag } from './role.ts'
import { lockRole, saveRole } from './role-store.ts'

/** Makes a change that gives a role more scopes, and settles what it means for the groups that give the role. */
type SettleWidening = <Result>(ctx: WorkCtx, of: { role_id: string }, change: () => Promise<Result>) => Promise<Result>

/**
 * Changes the sent fields of a custom role. The editor cannot give it a system role's name, nor add or remove a scope that they
 * lack, nor add any scope to a role that they hold. A change without effect writes nothing and emits no event. Of two concurrent
 * changes, the second applies to the result of the first and writes only the fields that it sent.
 */
export const updateRole = (settleWidening: SettleWidening) =>
  operation({
    method: 'PATCH',
    path: '/v1/roles/{role_id}',
    summary: 'Update a custom role',
    credential: 'any',
    scope: 'roles:write',
    params: RoleParams,
    body: SentBack(RoleChange, Role),
    replies: { 200: Role },
    errors: ['not_found', 'unprocessable'],
    changes: 'authority',
    etag: roleTag,
    takesIfMatch: true,
    run(ctx, { params, body, header }) {
      const tags = readIfMatch(header('if-match'))
      const scopes = body.scopes && requireScopes(body.scopes)
      const id = readRoleId(params.role_id)
      return keepRefusal(ctx, { subject_type: 'role', subject_id: id }, () =>
        ctx.tx.interactive(async (tx) => {
          const before = await lockRole(tx, id)
          if (before === undefined) throw notFound('role')
          const change = { ...changeIn(RoleChange, body, asRole(before)), ...(scopes && { scopes }) }
          const holds = await holdsRole(tx, ctx.actor.user_id, id)
          const planned = planChange(before, change, { scopes: ctx.actor.scopes, holds })
          requireMatch(tags, roleTag(before))
          if (planned.fields.length === 0) return asRole(before)
          const inside = { ...ctx, tx }
          const save = () => saveRole(inside, id, planned)
          return asRole(planned.added.length > 0 ? await settleWidening(inside, { role_id: id }, save) : await save())
        }),
      )
    },
  })
