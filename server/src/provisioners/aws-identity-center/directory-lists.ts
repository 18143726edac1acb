import type { StoreUser } from '../../aws/aws.ts'
import { ifThere } from './center.ts'
import { maxChunk, type Reader } from './inventory-reading.ts'
import { pagesOf } from './pages.ts'

/** AWS gives no more at a time. */
const MaxResults = 100

/** A group with some of its members: it comes again with the others. */
export type StoreGroup = { id: string; name: string; member_ids: readonly string[] }

/** Every user of the identity store, page by page. `Extensions`: which attributes come beside the usual ones. */
export async function* listUsers({ center, signal }: Reader, Extensions?: string[]): AsyncGenerator<StoreUser[]> {
  const IdentityStoreId = center.config.identity_store_id
  const extended = Extensions === undefined ? {} : { Extensions }
  const pages = pagesOf((NextToken) =>
    center.store('ListUsers', signal, (client, options) =>
      client.listUsers({ IdentityStoreId, ...extended, MaxResults, NextToken }, options),
    ),
  )
  for await (const { Users = [] } of pages) yield Users
}

/**
 * The groups of the identity store with their members. A group that is removed meanwhile is left out, or keeps the members that were read.
 * Nothing but AWS's pace is between two pages: the empty ones show that the reading goes on.
 */
export async function* listGroups(reader: Reader): AsyncGenerator<StoreGroup[]> {
  const { center, signal } = reader
  const IdentityStoreId = center.config.identity_store_id
  const pages = pagesOf((NextToken) =>
    center.store('ListGroups', signal, (client, options) =>
      client.listGroups({ IdentityStoreId, MaxResults, NextToken }, options),
    ),
  )
  for await (const { Groups = [] } of pages) {
    let found: StoreGroup[] = []
    for (const { GroupId: id, DisplayName } of Groups) {
      if (id === undefined) continue
      for await (const member_ids of membersOf(reader, id)) {
        found.push({ id, name: DisplayName ?? id, member_ids })
        const isFull = found.length >= maxChunk
        yield isFull ? found : []
        if (isFull) found = []
      }
    }
    yield found
  }
}

/** Page by page: a group may have everyone, who are more than one page of the reading has time for. */
async function* membersOf({ center, signal }: Reader, GroupId: string): AsyncGenerator<string[]> {
  const IdentityStoreId = center.config.identity_store_id
  const pages = pagesOf((NextToken) =>
    ifThere(
      center.store('ListGroupMemberships', signal, (client, options) =>
        client.listGroupMemberships({ IdentityStoreId, GroupId, MaxResults, NextToken }, options),
      ),
    ),
  )
  for await (const { GroupMemberships = [] } of pages)
    yield GroupMemberships.flatMap(({ MemberId }) => MemberId?.UserId ?? [])
}
