import { Type } from 'typebox'
import { Search } from '../http/list-query.ts'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { asRole, Role } from './role.ts'
import { findRolesPage, listRolesPage, roleKey } from './role-store.ts'

export const listRoles = operation({
  method: 'GET',
  path: '/v1/roles',
  summary: 'List roles, system roles first',
  credential: 'any',
  scope: 'roles:read',
  query: Type.Object({ ...pageQuery, q: Search('the name') }, { additionalProperties: false }),
  replies: { 200: PageOf(Role) },
  errors: [],
  async run(ctx, { query: { q }, page }) {
    if (q === undefined) return page.of((await listRolesPage(ctx.tx, page)).map(asRole), roleKey)
    const { rows, next } = await findRolesPage(ctx.tx, q, page)
    return page.reply({ rows: rows.map(asRole), next })
  },
})
