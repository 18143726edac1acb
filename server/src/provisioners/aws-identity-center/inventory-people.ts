import type { GroupSeen, InventoryPage, PersonSeen } from '../target-inventory.ts'
import { ifThere } from './center.ts'
import { maxChunk, type Reader } from './inventory-reading.ts'
import { pagesOf } from './pages.ts'

/** The users of the identity store, then its groups with their members. */
export async function* readPeople(reader: Reader): AsyncGenerator<InventoryPage> {
  const { center, signal } = reader
  const IdentityStoreId = center.config.identity_store_id
  const users = pagesOf((NextToken) =>
    center.store('ListUsers', signal, (client, options) =>
      client.listUsers({ IdentityStoreId, MaxResults: 100, NextToken }, options),
    ),
  )
  for await (const { Users = [] } of users) yield { people: Users.flatMap(personOf) }
  const groups = pagesOf((NextToken) =>
    center.store('ListGroups', signal, (client, options) =>
      client.listGroups({ IdentityStoreId, MaxResults: 100, NextToken }, options),
    ),
  )
  for await (const { Groups = [] } of groups) {
    let seen: GroupSeen[] = []
    for (const { GroupId: id, DisplayName } of Groups) {
      if (id === undefined) continue
      for await (const member_ids of membersOf(reader, id)) {
        seen.push({ id, name: DisplayName ?? id, member_ids })
        if (seen.length < maxChunk) continue
        yield { groups: seen }
        seen = []
      }
    }
    yield { groups: seen }
  }
}

type User = {
  UserId?: string | undefined
  UserName?: string | undefined
  DisplayName?: string | undefined
  ExternalIds?: { Issuer: string | undefined; Id: string | undefined }[] | undefined
}

function personOf({ UserId, UserName, DisplayName, ExternalIds = [] }: User): PersonSeen[] {
  if (UserId === undefined || UserName === undefined) return []
  const external_ids = ExternalIds.map(({ Issuer = '', Id = '' }) => ({ issuer: Issuer, id: Id }))
  return [{ id: UserId, login: UserName.toLowerCase(), name: DisplayName ?? UserName, external_ids }]
}

/** Page by page: a group may have everyone, who are more than one page of the reading has time for. */
async function* membersOf({ center, signal }: Reader, GroupId: string): AsyncGenerator<string[]> {
  const IdentityStoreId = center.config.identity_store_id
  const pages = pagesOf((NextToken) =>
    ifThere(
      center.store('ListGroupMemberships', signal, (client, options) =>
        client.listGroupMemberships({ IdentityStoreId, GroupId, MaxResults: 100, NextToken }, options),
      ),
    ),
  )
  for await (const { GroupMemberships = [] } of pages)
    yield GroupMemberships.flatMap(({ MemberId }) => MemberId?.UserId ?? [])
}
