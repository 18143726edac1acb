import { isObject } from '../../kernel/is-object.ts'
import { TargetError } from '../../provisioners/driver.ts'
import { type DirectoryPage, directoryLimits, type PersonRead } from '../../provisioners/target-directory.ts'
import { openMemoryBudget } from './memory-budget.ts'
import { findFaults, type ScimConfig, scimConfigOf } from './scim-config.ts'
import { flattened, groupOf } from './scim-groups.ts'
import { type Listed, type ListToRead, readList } from './scim-list.ts'
import { type AskingLimits, type AskScim, askScimServer } from './scim-server.ts'
import type { SourceType } from './source.ts'

/** What a reading takes from a server that is not ours. `maxEntries`: people, and groups. */
type Limits = AskingLimits & { maxEntries: number; maxMemberships: number }

const usualLimits: Limits = {
  maxCallMs: 30_000,
  maxWaitMs: 60_000,
  maxAnswerBytes: 8 * 1024 * 1024,
  maxEntries: directoryLimits.people,
  maxMemberships: directoryLimits.members,
}

/** A directory with a SCIM 2.0 server (RFC 7644), read as its client. */
export const scimSource: SourceType = scimSourceWithin(usualLimits)

/** The same with other limits. */
export function scimSourceWithin(limits: Partial<Limits>): SourceType {
  const all = { ...usualLimits, ...limits }
  return {
    findFaults,
    open(given, egress) {
      const config = scimConfigOf(given)
      const ask = askScimServer(config, egress, all)
      return ({ groups }, signal) => readScim({ ask, config, limits: all, signal }, groups)
    },
  }
}

type Reading = { ask: AskScim; config: ScimConfig; limits: Limits; signal: AbortSignal }

async function* readScim(reading: Reading, withGroups: boolean): AsyncGenerator<DirectoryPage> {
  const { ask, config, limits, signal } = reading
  const isSorted = await sorts(reading)
  const list = (kind: ListToRead['kind']) =>
    readList(ask, { kind, page_size: config.page_size, isSorted, maxEntries: limits.maxEntries }, signal)
  const people = new Set<string>()
  for await (const page of list('Users')) {
    for (const { id } of page) people.add(id)
    yield { people: page.map(personOf) }
  }
  if (!withGroups) return
  const groups = new Map<string, ReturnType<typeof groupOf>>()
  const hold = openMemoryBudget()
  let memberships = 0
  for await (const page of list('Groups')) {
    for (const group of page.map(groupOf)) {
      memberships += group.members.length
      hold(group.id.length + group.name.length + group.members.reduce((sum, { id }) => sum + id.length, 0))
      groups.set(group.id, group)
    }
    if (groups.size > directoryLimits.groups)
      throw new TargetError(
        'permanent',
        `the directory has more than ${directoryLimits.groups} groups, which is the limit`,
      )
    if (memberships > limits.maxMemberships)
      throw new TargetError('permanent', `the groups have more than ${limits.maxMemberships} memberships in all`)
    yield {}
  }
  for (const page of flattened(groups, people, limits.maxMemberships)) yield { groups: page }
}

/** Whether the server says that it sorts. A server without a ServiceProviderConfig is read all the same. */
async function sorts({ ask, signal }: Reading): Promise<boolean> {
  try {
    const { sort } = await ask('/ServiceProviderConfig', signal)
    return isObject(sort) && (sort.supported === true || textOf(sort.supported).toLowerCase() === 'true')
  } catch (error) {
    // The users will show whether it is the address or the token.
    if (error instanceof TargetError) return false
    throw error
  }
}

/** What the server says of a resource rather than of a person, and what nobody here may know. */
const leftOut = new Set(['id', 'externalid', 'meta', 'groups', 'schemas', 'password'])

function personOf({ id, entry }: Listed): PersonRead {
  const kept = Object.entries(entry).filter(([name]) => !leftOut.has(name.toLowerCase()))
  return { id, resource: Object.fromEntries(kept.map(([name, value]) => [name, inOrder(value)])) }
}

/** A list in an order of its own: servers promise none. */
function inOrder(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  const keyed = value.map((one: unknown) => ({ key: keyOf(one), one }))
  return keyed.sort((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key))).map(({ one }) => one)
}

function keyOf(value: unknown): string {
  return isObject(value) ? `${textOf(value.value)} ${textOf(value.type)}` : textOf(value)
}

const textOf = (value: unknown) => (typeof value === 'object' ? '' : String(value))
