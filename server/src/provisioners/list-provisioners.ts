import { CappedListQuery } from '../http/list-query.ts'
import { operation } from '../http/operation.ts'
import { PageOf } from '../http/schema.ts'
import { Provisioner } from './provisioner.ts'
import { listProvisionersPage } from './provisioner-store.ts'

/** The tenant's provisioners, in the order of their creation where `sort` is absent. */
export const listProvisioners = operation({
  method: 'GET',
  path: '/v1/provisioners',
  summary: 'List provisioners',
  credential: 'any',
  scope: 'provisioners:read',
  query: CappedListQuery,
  replies: { 200: PageOf(Provisioner) },
  errors: [],
  run: async (ctx, { query, page }) => page.reply(await listProvisionersPage(ctx.tx, query, page)),
})
