import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { RoleHolder, requireUserReader } from './holder.ts'
import { listHoldersPage } from './holder-store.ts'
import { RoleParams, readRoleId } from './role.ts'
import { findRole } from './role-store.ts'

export const listRoleHolders = operation({
  method: 'GET',
  path: '/v1/roles/{role_id}/holders',
  summary: 'List who holds a role, themselves or by a group; needs users:read too',
  credential: 'any',
  scope: 'roles:read',
  params: RoleParams,
  query: Type.Object(pageQuery, { additionalProperties: false }),
  replies: { 200: PageOf(RoleHolder) },
  errors: ['not_found'],
  async run({ tx, actor }, { params, page }) {
    requireUserReader(actor)
    const id = readRoleId(params.role_id)
    const holders = await listHoldersPage(tx, id, actor.scopes.has('groups:read'), page)
    if (holders.rows.length === 0 && (await findRole(tx, id)) === undefined) throw notFound('role')
    return page.reply(holders)
  },
})
