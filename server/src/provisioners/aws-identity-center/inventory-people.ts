import type { StoreUser } from '../../aws/aws.ts'
import type { InventoryPage, PersonSeen } from '../target-inventory.ts'
import { listGroups, listUsers } from './directory-lists.ts'
import type { Reader } from './inventory-reading.ts'

/** The users of the identity store, then its groups with their members. */
export async function* readPeople(reader: Reader): AsyncGenerator<InventoryPage> {
  for await (const users of listUsers(reader)) yield { people: users.flatMap(personOf) }
  for await (const groups of listGroups(reader)) yield { groups }
}

function personOf({ UserId, UserName, DisplayName, ExternalIds = [] }: StoreUser): PersonSeen[] {
  if (UserId === undefined || UserName === undefined) return []
  const external_ids = ExternalIds.map(({ Issuer = '', Id = '' }) => ({ issuer: Issuer, id: Id }))
  return [{ id: UserId, login: UserName.toLowerCase(), name: DisplayName ?? UserName, external_ids }]
}
