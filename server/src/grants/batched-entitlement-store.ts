import { isRowsOwnFault } from '../db/client/constraints.ts'
import { batched } from '../kernel/batch.ts'
import { beginGrants, savePresences } from './give-store.ts'
import { linkGrants } from './link-store.ts'
import { openEntitlements } from './open-entitlement-store.ts'
import { findGrantsToPlan } from './plan-store.ts'
import * as take from './take-store.ts'

/** The maximum number of rows in one statement. */
const maxBatch = 512

/** A holder may be locked for as long as a call about them takes: that delays their own grants alone. */
const givesWay = { apart: true }

/** The store of one grant and of one entitlement. Calls that a tenant's runs make at the same moment share one round trip. */
export const openEntitlement = batched(maxBatch, openEntitlements, isRowsOwnFault)
export const beginRevoke = batched(maxBatch, take.beginRevokes, isRowsOwnFault)
export const settle = batched(maxBatch, take.settle, isRowsOwnFault)
export const findGrantToPlan = batched(maxBatch, findGrantsToPlan, isRowsOwnFault)
export const linkGrant = batched(maxBatch, linkGrants, isRowsOwnFault, givesWay)
export const beginGrant = batched(maxBatch, beginGrants, isRowsOwnFault, givesWay)
export const savePresent = batched(maxBatch, savePresences, isRowsOwnFault, givesWay)
