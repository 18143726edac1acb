import { TargetError } from '../../../provisioners/driver.ts'
import { directoryLimits } from '../../../provisioners/target-directory.ts'
import { dnKey } from './distinguished-name.ts'
import { idOf, shortDn, textsOf } from './entry.ts'
import type { Entry } from './read-message.ts'

/** Their names are held in memory during a reading: some 60 MB. */
const maxPeople = directoryLimits.people

/** Who is in a directory, by the names that managers and members are given by. */
export type PeopleIndex = {
  /** @throws TargetError for a person who was added already, and for too many */
  add(entry: Entry): void
  findDn(dn: string): string | undefined
  /** By a key of `dnKey`. */
  findKey(key: string): string | undefined
  /** By the name of an account, as `memberUid` has it; undefined also where several people have it. */
  findUid(uid: string): string | undefined
  ids(): Iterable<string>
  count(): number
}

/** `idAttributes`: those that may have the id of a person. */
export function openPeopleIndex(idAttributes: readonly string[], limit = maxPeople): PeopleIndex {
  const ids = new Set<string>()
  const byKey = new Map<string, string>()
  const byUid = new Map<string, string | undefined>()
  const findDn = (dn: string) => byKey.get(dnKey(dn) ?? '')

  return {
    add(entry) {
      const id = idOf(entry, idAttributes)
      const key = dnKey(entry.dn)
      if (ids.has(id)) throw asSeenTwice(entry, id, byKey.get(key ?? '') === id)
      if (ids.size === limit) {
        throw new TargetError(
          'permanent',
          `the directory has more than ${limit} people: choose a smaller \`user_base_dn\` or \`user_filter\``,
        )
      }
      ids.add(id)
      if (key !== undefined) {
        if (byKey.has(key)) throw asSameDn(entry)
        byKey.set(key, id)
      }
      for (const uid of textsOf(entry, 'uid')) byUid.set(uid, byUid.has(uid) ? undefined : id)
    },
    findDn,
    findKey: (key) => byKey.get(key),
    findUid: (uid) => byUid.get(uid),
    ids: () => ids,
    count: () => ids.size,
  }
}

/** A reading is no snapshot: an entry that moves meanwhile may come twice, as do the pages of a server that repeats itself. */
export function asSeenTwice(entry: Entry, id: string, isSameDn: boolean): TargetError {
  return isSameDn
    ? new TargetError('transient', `the server sent \`${shortDn(entry)}\` twice in one reading`)
    : new TargetError(
        'permanent',
        `\`${shortDn(entry)}\` has the same id \`${id}\` as another entry: set \`id_attribute\` to one that no two people share`,
      )
}

/** Two that a server tells apart, but whose members and managers we could not. */
export function asSameDn(entry: Entry): TargetError {
  return new TargetError(
    'permanent',
    `two entries have the DN \`${shortDn(entry)}\` but for upper case and spaces: rename one of them`,
  )
}
