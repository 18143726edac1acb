import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { Provisioner } from './provisioner.ts'
import { listProvisionersPage } from './provisioner-store.ts'

/** The tenant's provisioners in the order of their creation. */
export const listProvisioners = operation({
  method: 'GET',
  path: '/v1/provisioners',
  summary: 'List provisioners',
  credential: 'any',
  scope: 'provisioners:read',
  query: Type.Object(pageQuery, { additionalProperties: false }),
  replies: { 200: PageOf(Provisioner) },
  errors: [],
  run: async (ctx, { page }) => page.of(await listProvisionersPage(ctx.tx, page), (provisioner) => [provisioner.id]),
})
