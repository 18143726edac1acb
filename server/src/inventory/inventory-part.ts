import { backoffDelay } from '../kernel/backoff.ts'
import type { InventoryPart } from '../provisioners/target-inventory.ts'

/** The rules of reading an inventory: what belongs to which part, and when it is read again. No I/O here. */

/** The types of resource that each part lists. */
export const listedBy: Readonly<Record<InventoryPart, readonly string[]>> = {
  accounts: ['cloud_account', 'cloud_organizational_unit'],
  permission_sets: ['cloud_permission_set'],
  databases: ['cloud_db_instance'],
  people: [],
  assignments: [],
}

/** Seconds from the end of a run to the next one. People come and go, and a person who is not found cannot be given access. */
export function readAgainSeconds(part: InventoryPart): number {
  return part === 'people' ? 900 : 3_600
}

/** Seconds until a part with so many failures is read again. */
export function retrySeconds(failures: number): number {
  return backoffDelay({ base: 300, max: 3_600 }, failures)
}
