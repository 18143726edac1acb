import { ifThere } from './center.ts'
import type { Reader } from './inventory-reading.ts'
import { pagesOf } from './pages.ts'

export type Unit = { id: string; name: string }

/** A unit with those that contain it, from the root on; itself the last. */
export type UnitPath = readonly Unit[]

export type ActiveAccount = { id: string; name: string; units: UnitPath }

/** A page of the organization: units, or active accounts. */
type Found = { units: readonly UnitPath[]; accounts: readonly ActiveAccount[] }

/** AWS nests units five deep. */
const maxDepth = 16

/** Walks the organization from its root: a unit is found before what is below it. What is removed meanwhile is left out. */
export async function* walkOrganization(reader: Reader): AsyncGenerator<Found> {
  const parents: { id: string; units: UnitPath }[] = []
  for (const id of await listRoots(reader)) parents.push({ id, units: [] })
  for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
    const { id, units } = parent
    for await (const accounts of accountsIn(reader, id, units)) yield { units: [], accounts }
    if (units.length === maxDepth) continue
    for await (const found of unitsIn(reader, id, units)) {
      for (const path of found) parents.push({ id: path.at(-1)?.id ?? '', units: path })
      yield { units: found, accounts: [] }
    }
  }
}

async function listRoots({ center, signal }: Reader): Promise<string[]> {
  const ids: string[] = []
  const pages = pagesOf((NextToken) =>
    center.organization('ListRoots', signal, (client, options) => client.listRoots({ NextToken }, options)),
  )
  for await (const { Roots = [] } of pages) ids.push(...Roots.flatMap(({ Id }) => Id ?? []))
  return ids
}

async function* accountsIn(
  { center, signal }: Reader,
  ParentId: string,
  units: UnitPath,
): AsyncGenerator<ActiveAccount[]> {
  const pages = pagesOf((NextToken) =>
    ifThere(
      center.organization('ListAccountsForParent', signal, (client, options) =>
        client.listAccountsForParent({ ParentId, NextToken }, options),
      ),
    ),
  )
  for await (const { Accounts = [] } of pages) {
    // AWS replaces `Status` by `State`.
    const active = Accounts.filter(({ State, Status }) => (State ?? Status) === 'ACTIVE')
    yield active.flatMap(({ Id, Name }) => (Id === undefined ? [] : { id: Id, name: Name ?? Id, units }))
  }
}

async function* unitsIn({ center, signal }: Reader, ParentId: string, units: UnitPath): AsyncGenerator<UnitPath[]> {
  const pages = pagesOf((NextToken) =>
    ifThere(
      center.organization('ListOrganizationalUnitsForParent', signal, (client, options) =>
        client.listOrganizationalUnitsForParent({ ParentId, NextToken }, options),
      ),
    ),
  )
  for await (const { OrganizationalUnits = [] } of pages) {
    yield OrganizationalUnits.flatMap(({ Id, Name }) =>
      Id === undefined ? [] : [[...units, { id: Id, name: Name ?? Id }]],
    )
  }
}
