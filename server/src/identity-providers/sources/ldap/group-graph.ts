import { periodicYield } from '../../../kernel/yield-to-event-loop.ts'
import { TargetError } from '../../../provisioners/driver.ts'

/** A group as it is read. `people`: ids of its own members. `nested`: the keys of other groups in it, by `dnKey`, known or not. */
export type GroupNode = { id: string; name: string; people: string[]; nested: string[] }

/** The most memberships that are walked in one reading: those of a group in other groups count for each of these. */
const maxMemberships = 20_000_000

/**
 * The people of each group, directly or by a group in it, however deep, and whether or not groups contain each other in a circle. `groups`: by
 * the keys of their DNs.
 * @throws TargetError for more memberships than `limit`
 */
export async function* flatten(
  groups: ReadonlyMap<string, GroupNode>,
  limit = maxMemberships,
): AsyncGenerator<{ group: GroupNode; people: ReadonlySet<string> }> {
  const pause = periodicYield()
  let left = limit
  for (const group of groups.values()) {
    const people = new Set<string>()
    const reached = new Set([group])
    // The set grows while it is walked.
    for (const one of reached) {
      left -= one.people.length + one.nested.length
      if (left < 0) {
        throw new TargetError(
          'permanent',
          `the groups have more than ${limit} memberships: choose a smaller \`group_base_dn\` or \`group_filter\``,
        )
      }
      for (const id of one.people) people.add(id)
      for (const key of one.nested) {
        const inside = groups.get(key)
        if (inside !== undefined) reached.add(inside)
      }
      await pause()
    }
    yield { group, people }
  }
}
