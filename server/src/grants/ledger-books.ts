import { isRowsOwnFault } from '../db/constraints.ts'
import { gather } from '../kernel/gather.ts'
import { openLooks } from './look-store.ts'
import * as take from './take-store.ts'

/**
 * The ledger's books as the turn of one entitlement sees them: whatever the turns of a tenant ask at the same moment goes in
 * one trip.
 */
const mostTogether = 512

export const openLook = gather(mostTogether, openLooks, isRowsOwnFault)
export const beginRevoke = gather(mostTogether, take.beginRevokes, isRowsOwnFault)
export const settle = gather(mostTogether, take.settle, isRowsOwnFault)
