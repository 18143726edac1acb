import { periodicYield } from '../../../kernel/yield-to-event-loop.ts'
import { TargetError } from '../../../provisioners/driver.ts'
import { directoryLimits } from '../../../provisioners/target-directory.ts'
import { openMemoryBudget } from '../memory-budget.ts'
import { dnKey } from './distinguished-name.ts'
import { firstText, idOf, shortDn } from './entry.ts'
import type { GroupNode } from './group-graph.ts'
import { allValues, memberAttributes } from './group-members.ts'
import type { Settings } from './ldap-config.ts'
import { asSameDn, asSeenTwice, type PeopleIndex } from './people-index.ts'
import type { Entry } from './read-message.ts'
import { searchAll } from './search.ts'
import type { Session } from './session.ts'

const maxGroups = directoryLimits.groups
/** The most members that are named in all groups, people and others. */
const maxMembers = 10_000_000
/** Groups can be large. */
const maxGroupsOfPage = 100

/** The groups of a directory, by the keys of their DNs. */
export type GroupsRead = {
  nodes: Map<string, GroupNode>
  /** Those that show no members: who is in them is said by `memberOf` of the members, if by anything. */
  silent: Map<string, GroupNode>
}

/** Reads all groups with their direct members, and yields after each page. @throws TargetError */
export async function* readGroups(
  session: Session,
  settings: Settings,
  people: PeopleIndex,
  into: GroupsRead,
): AsyncGenerator<void> {
  const idAttributes = [...new Set([...settings.attributes.id, 'entryUUID', 'objectGUID'])]
  const ids = new Set<string>()
  const parents = new Map<string, string[]>()
  let members = 0
  const hold = openMemoryBudget()
  const count = (more: number, characters = 0) => {
    members += more
    hold(characters)
    if (members > maxMembers) throw asTooMany(`${maxMembers} members`)
  }

  const add = async (entry: Entry) => {
    const id = idOf(entry, idAttributes)
    const key = dnKey(entry.dn) ?? entry.dn
    if (ids.has(id)) throw asSeenTwice(entry, id, into.nodes.get(key)?.id === id)
    if (ids.size === maxGroups) throw asTooMany(`${maxGroups} groups`)
    ids.add(id)
    const node: GroupNode = { id, name: firstText(entry, ['cn']) ?? shortDn(entry), people: [], nested: [] }
    const named = await addMembers(node, session, entry, people, count)
    if (into.nodes.has(key)) throw asSameDn(entry)
    into.nodes.set(key, node)
    if (named === 0) into.silent.set(key, node)
    const above = await groupsOf(session, entry)
    count(
      above.length,
      above.reduce((sum, key) => sum + key.length, 0),
    )
    if (above.length > 0) parents.set(key, above)
  }

  const query = {
    ...settings.groups,
    attributes: [...idAttributes, 'cn', ...memberAttributes, 'memberOf'],
    pageSize: Math.min(settings.pageSize, maxGroupsOfPage),
  }
  for await (const entries of searchAll(session, query)) {
    for (const entry of entries) await add(entry)
    yield
  }
  for (const [key, above] of parents) {
    for (const group of above) into.silent.get(group)?.nested.push(key)
  }
}

/** Adds the direct members to the group, and returns how many are named. `count`: throws where they are too many. */
async function addMembers(
  node: GroupNode,
  session: Session,
  entry: Entry,
  people: PeopleIndex,
  count: (more: number, characters?: number) => void,
): Promise<number> {
  const pause = periodicYield()
  let named = 0
  for (const name of memberAttributes) {
    for await (const values of allValues(session, entry, name)) {
      count(values.length)
      named += values.length
      for (const value of values) {
        addMember(node, name, value.toString('utf8'), people, count)
        await pause()
      }
    }
  }
  return named
}

/** The keys of the groups that `memberOf` of an entry names. */
export async function groupsOf(session: Session, entry: Entry): Promise<string[]> {
  const keys: string[] = []
  for await (const values of allValues(session, entry, 'memberOf')) {
    keys.push(...values.map((value) => dnKey(value.toString('utf8'))).filter((key) => key !== undefined))
  }
  return keys
}

/** Only people who were read, and what may be a group: anything else with a DN is found to be none once all groups are known. */
function addMember(
  node: GroupNode,
  attribute: string,
  member: string,
  people: PeopleIndex,
  count: (more: number, characters: number) => void,
): void {
  if (attribute === 'memberUid') {
    const id = people.findUid(member.trim())
    if (id !== undefined) node.people.push(id)
    return
  }
  // Of `uniqueMember`: what tells apart two people who had the same DN, one after the other (RFC 4517, 3.3.21).
  const key = dnKey(attribute === 'uniqueMember' ? member.replace(/#'[01]*'B$/, '') : member)
  if (key === undefined) return
  const id = people.findKey(key)
  if (id !== undefined) return void node.people.push(id)
  count(0, key.length)
  node.nested.push(key)
}

function asTooMany(what: string): TargetError {
  return new TargetError(
    'permanent',
    `the groups are more than ${what}: choose a smaller \`group_base_dn\` or \`group_filter\``,
  )
}
