import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { IdParams, PageOf, pageQuery } from '../http/schema.ts'
import type { DriverTypes } from '../provisioners/drivers.ts'
import { UnmatchedUser } from './inventory.ts'
import { findInventoried, listUnmatchedUsersPage } from './inventory-view-store.ts'

/** Grants to these users would fail at this target. */
export const listUnmatchedUsers = (types: DriverTypes) =>
  operation({
    method: 'GET',
    path: '/v1/provisioners/{id}/unmatched-users',
    summary: 'List active users whom the target of a provisioner would not find',
    credential: 'any',
    scope: 'provisioners:read',
    params: IdParams,
    query: Type.Object(pageQuery, { additionalProperties: false }),
    replies: { 200: PageOf(UnmatchedUser) },
    errors: ['not_found'],
    async run({ tx }, { params: { id }, page }) {
      return page.reply(await listUnmatchedUsersPage(tx, await findInventoried(tx, id, types), page))
    },
  })
