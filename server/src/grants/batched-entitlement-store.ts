import { isRowsOwnFault } from '../db/client/constraints.ts'
import { batched } from '../kernel/batch.ts'
import { openEntitlements } from './open-entitlement-store.ts'
import * as take from './take-store.ts'

/** So many rows go in one statement at most. */
const maxBatch = 512

/** The store of one entitlement: what the runs of a tenant ask at the same moment goes in one round trip. */
export const openEntitlement = batched(maxBatch, openEntitlements, isRowsOwnFault)
export const beginRevoke = batched(maxBatch, take.beginRevokes, isRowsOwnFault)
export const settle = batched(maxBatch, take.settle, isRowsOwnFault)
