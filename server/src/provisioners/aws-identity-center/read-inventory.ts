import type { InventoryPage, InventoryPart, ReadInventory } from '../target-inventory.ts'
import type { Center } from './center.ts'
import { readAccounts } from './inventory-accounts.ts'
import { readAssignments } from './inventory-assignments.ts'
import { readDatabases } from './inventory-databases.ts'
import { readPeople } from './inventory-people.ts'
import { openReader, type Reader } from './inventory-reading.ts'
import { readPermissionSets } from './inventory-sets.ts'

const readers: Readonly<Record<InventoryPart, (reader: Reader) => AsyncGenerator<InventoryPage>>> = {
  accounts: readAccounts,
  permission_sets: readPermissionSets,
  people: readPeople,
  databases: readDatabases,
  assignments: readAssignments,
}

/** Reads what an organization and its instance of Identity Center say of themselves. */
export function inventoryReader(center: Center): ReadInventory {
  return (part, signal) => readers[part](openReader(center, signal))
}
