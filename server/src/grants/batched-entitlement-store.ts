import { isRowsOwnFault } from '../db/client/constraints.ts'
import { batched } from '../kernel/batch.ts'
import { openEntitlements } from './open-entitlement-store.ts'
import * as take from './take-store.ts'

/** The maximum number of rows in one statement. */
const maxBatch = 512

/** The store of one entitlement. Calls that a tenant's runs make at the same moment share one round trip. */
export const openEntitlement = batched(maxBatch, openEntitlements, isRowsOwnFault)
export const beginRevoke = batched(maxBatch, take.beginRevokes, isRowsOwnFault)
export const settle = batched(maxBatch, take.settle, isRowsOwnFault)
