import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import type { DriverTypes } from '../provisioners/drivers.ts'
import { Inventory } from './inventory.ts'
import { findInventoried, readInventoryView } from './inventory-view-store.ts'

/** What the target of a provisioner said of itself, and what that means for grants. */
export const getInventory = (types: DriverTypes) =>
  operation({
    method: 'GET',
    path: '/v1/provisioners/{id}/inventory',
    summary: 'Get what the target of a provisioner says of itself, as a summary',
    credential: 'any',
    scope: 'provisioners:read',
    params: IdParams,
    replies: { 200: Inventory },
    errors: ['not_found'],
    async run({ tx }, { params: { id } }) {
      return readInventoryView(tx, await findInventoried(tx, id, types))
    },
  })
