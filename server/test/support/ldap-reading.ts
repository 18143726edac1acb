import { readEgressAllow } from '../../src/egress/allow-list.ts'
import { openEgress } from '../../src/egress/egress.ts'
import { ldapSource } from '../../src/identity-providers/sources/ldap/ldap-source.ts'
import type { Config } from '../../src/provisioners/driver.ts'
import type { DirectoryPage } from '../../src/provisioners/target-directory.ts'

/** Lets the tests call this machine. */
export const loopbackEgress = openEgress(readEgressAllow('127.0.0.1,localhost'))

/** What a reading found: the resource of each person by id, the members of each group by name, and the pages. */
export type Reading = {
  people: Map<string, Readonly<Record<string, unknown>>>
  groups: Map<string, { id: string; members: Set<string> }>
  pages: DirectoryPage[]
}

/** Reads a whole directory. */
export async function readAll(
  config: Config,
  { groups = true, egress = loopbackEgress, signal = new AbortController().signal } = {},
): Promise<Reading> {
  const read: Reading = { people: new Map(), groups: new Map(), pages: [] }
  for await (const page of ldapSource.open(config, egress)({ groups }, signal)) {
    read.pages.push(page)
    for (const { id, resource } of page.people ?? []) read.people.set(id, resource)
    for (const { id, name, member_ids } of page.groups ?? []) {
      const group = read.groups.get(name) ?? { id, members: new Set() }
      for (const member of member_ids) group.members.add(member)
      read.groups.set(name, group)
    }
  }
  return read
}
