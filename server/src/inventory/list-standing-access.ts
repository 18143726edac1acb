import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { IdParams, PageOf, pageQuery } from '../http/schema.ts'
import type { DriverTypes } from '../provisioners/drivers.ts'
import { findInventoried } from './inventory-view-store.ts'
import { StandingAccess, standingFilters } from './standing-access.ts'
import { listStandingAccessPage } from './standing-access-store.ts'

/** Who holds which permission set where, whether or not Sallyport gave it. */
export const listStandingAccess = (types: DriverTypes) =>
  operation({
    method: 'GET',
    path: '/v1/provisioners/{id}/standing-access',
    summary: 'List who holds which permission set on which account today, by account or by person',
    credential: 'any',
    scope: 'provisioners:read',
    params: IdParams,
    query: Type.Object({ ...pageQuery, ...standingFilters }, { additionalProperties: false }),
    replies: { 200: PageOf(StandingAccess) },
    errors: ['not_found'],
    async run({ tx }, { params: { id }, query, page }) {
      return page.reply(await listStandingAccessPage(tx, await findInventoried(tx, id, types), query, page))
    },
  })
