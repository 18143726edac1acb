import type { Egress } from '../../../kernel/context.ts'
import { periodicYield } from '../../../kernel/yield-to-event-loop.ts'
import { TargetError } from '../../../provisioners/driver.ts'
import type { DirectoryPage, GroupRead, PersonRead } from '../../../provisioners/target-directory.ts'
import { idOf } from './entry.ts'
import { flatten, type GroupNode } from './group-graph.ts'
import type { Settings } from './ldap-config.ts'
import { asSeenTwice, openPeopleIndex, type PeopleIndex } from './people-index.ts'
import { type GroupsRead, groupsOf, readGroups } from './read-groups.ts'
import { personAttributes, readPerson } from './read-person.ts'
import { searchAll } from './search.ts'
import { openSession, type Session } from './session.ts'

/** The most members of one page. */
const maxMembersOfPage = 5_000
const maxGroupsOfPage = 200

/**
 * Reads a directory over one connection, in three parts: who is there, the groups, and the people themselves. The first one is needed because
 * a manager or a member can be on a later page.
 */
export async function* readDirectory(
  settings: Settings,
  egress: Egress,
  what: { groups: boolean },
  signal: AbortSignal,
): AsyncGenerator<DirectoryPage> {
  const session = await openSession(settings, egress, signal)
  const pause = periodicYield()
  try {
    const people = openPeopleIndex(settings.attributes.id)
    const query = { ...settings.people, pageSize: settings.pageSize }
    for await (const entries of searchAll(session, { ...query, attributes: [...settings.attributes.id, 'uid'] })) {
      for (const entry of entries) {
        people.add(entry)
        await pause()
      }
      yield {}
    }
    if (people.count() === 0) {
      throw new TargetError(
        'permanent',
        `there is nobody below \`${query.base}\` for the filter \`${query.filter}\`: check \`${query.field}\`, \`user_filter\` and what \`bind_dn\` may read`,
      )
    }
    const groups: GroupsRead = { nodes: new Map(), silent: new Map() }
    if (what.groups) for await (const _ of readGroups(session, settings, people, groups)) yield {}
    yield* readPeople(session, settings, people, groups.silent)
    yield* groupPages(groups.nodes)
  } finally {
    session.close()
  }
}

/** The people, once more with all that is said of them. @throws TargetError where one of the first part is missing */
async function* readPeople(
  session: Session,
  settings: Settings,
  people: PeopleIndex,
  silent: ReadonlyMap<string, GroupNode>,
): AsyncGenerator<DirectoryPage> {
  const ids = settings.attributes.id
  const seen = new Set<string>()
  const pause = periodicYield()
  const attributes = [...ids, ...personAttributes(settings), ...(silent.size > 0 ? ['memberOf'] : [])]
  const query = { ...settings.people, attributes, pageSize: settings.pageSize }
  for await (const entries of searchAll(session, query)) {
    const page: PersonRead[] = []
    for (const entry of entries) {
      const id = idOf(entry, ids)
      if (seen.has(id)) throw asSeenTwice(entry, id, people.findDn(entry.dn) === id)
      seen.add(id)
      page.push({ id, resource: readPerson(entry, settings, people.findDn) })
      if (silent.size > 0) for (const key of await groupsOf(session, entry)) silent.get(key)?.people.push(id)
      await pause()
    }
    yield { people: page }
  }
  for (const id of people.ids()) {
    if (!seen.has(id)) {
      throw new TargetError('transient', `the directory changed while it was read: \`${id}\` was there at first only`)
    }
  }
}

/** Many small groups on one page, and a large one on several. */
async function* groupPages(groups: ReadonlyMap<string, GroupNode>): AsyncGenerator<DirectoryPage> {
  let page: GroupRead[] = []
  let room = maxMembersOfPage
  for await (const { group, people } of flatten(groups)) {
    const ids = [...people]
    let at = 0
    do {
      const some = ids.slice(at, at + room)
      page.push({ id: group.id, name: group.name, member_ids: some })
      at += some.length
      room -= some.length
      if (room === 0 || page.length === maxGroupsOfPage) {
        yield { groups: page }
        page = []
        room = maxMembersOfPage
      }
    } while (at < ids.length)
  }
  if (page.length > 0) yield { groups: page }
}
