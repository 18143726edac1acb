import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import type { DriverTypes } from '../provisioners/drivers.ts'
import { Inventory } from './inventory.ts'
import { refreshInventory as refresh } from './inventory-part-store.ts'
import { findInventoried, readInventoryView } from './inventory-view-store.ts'

/** Has the inventory of a provisioner read now. A part that is being read stays as it is. */
export const refreshInventory = (types: DriverTypes) =>
  operation({
    method: 'POST',
    path: '/v1/provisioners/{id}/inventory/refresh',
    summary: 'Have the inventory of a provisioner read now',
    credential: 'any',
    scope: 'provisioners:write',
    params: IdParams,
    replies: { 202: Inventory },
    errors: ['not_found'],
    async run({ tx }, { params: { id } }) {
      const shown = await findInventoried(tx, id, types)
      await tx.write([refresh(tx, id)])
      return readInventoryView(tx, shown)
    },
  })
