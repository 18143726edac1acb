import type { AccountSeen, InventoryPage, ResourceSeen } from '../target-inventory.ts'
import { ifThere } from './center.ts'
import { type ActiveAccount, type UnitPath, walkOrganization } from './inventory-organization.ts'
import { chunksOf, type Reader } from './inventory-reading.ts'
import { pagesOf } from './pages.ts'

/** The active accounts with their tags, and the units of the organization. */
export async function* readAccounts(reader: Reader): AsyncGenerator<InventoryPage> {
  for await (const { units, accounts } of walkOrganization(reader)) {
    yield { resources: units.flatMap(resourceOf) }
    for (const some of chunksOf(accounts)) {
      const seen: AccountSeen[] = []
      for (const account of some) seen.push(...(await withTags(reader, account)))
      yield { accounts: seen }
    }
  }
}

function resourceOf(path: UnitPath): ResourceSeen[] {
  const unit = path.at(-1)
  if (unit === undefined) return []
  const description = path.map(({ name }) => name).join(' / ')
  return [{ resource_type: 'cloud_organizational_unit', ...unit, description, account_id: null, tags: {}, facts: {} }]
}

/** None when the account has left the organization meanwhile. */
async function withTags({ center, signal }: Reader, account: ActiveAccount): Promise<AccountSeen[]> {
  const { id, name, units } = account
  const tags: [string, string][] = []
  let isThere = false
  const pages = pagesOf((NextToken) =>
    ifThere(
      center.organization('ListTagsForResource', signal, (client, options) =>
        client.listTagsForResource({ ResourceId: id, NextToken }, options),
      ),
    ),
  )
  for await (const { Tags = [] } of pages) {
    isThere = true
    for (const { Key, Value } of Tags) if (Key !== undefined) tags.push([Key, Value ?? ''])
  }
  const organizational_unit_ids = units.map((unit) => unit.id)
  return isThere ? [{ account_id: id, name, tags: Object.fromEntries(tags), organizational_unit_ids }] : []
}
