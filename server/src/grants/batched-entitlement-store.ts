import { isRowsOwnFault } from '../db/client/constraints.ts'
import { batched } from '../kernel/batch.ts'
import { openLooks } from './look-store.ts'
import * as take from './take-store.ts'

/** So many rows go in one statement at most. */
const mostTogether = 512

/** The store of one entitlement: what the runs of a tenant ask at the same moment goes in one round trip. */
export const openLook = batched(mostTogether, openLooks, isRowsOwnFault)
export const beginRevoke = batched(mostTogether, take.beginRevokes, isRowsOwnFault)
export const settle = batched(mostTogether, take.settle, isRowsOwnFault)
