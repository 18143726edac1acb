import { randomInt } from 'node:crypto'
import { chownSync, lchownSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { closedFolder, type Log, nobody, type Place, type RunAs } from './place.ts'

/** Numbers that no system gives to users, containers or services; see systemd's "Users, Groups, UIDs and GIDs". */
const ownUsers = { first: 0x7000_0000, count: 0x0fff_fff0 }

/**
 * Where Sallyport is root, gives the database's files to a user of their own, whom no other process runs as. They belong to
 * `nobody` after initdb, which needs a user with a name, and in folders of earlier versions; so every process of `nobody` could
 * read and change them. A password would not help: it is checked by files that are the user's own. Call it under the folder's
 * lock, when no server runs on the files.
 * @returns the place with the user that the files belong to now
 */
export function giveOwnUser(place: Place, log: Log): Place {
  if (place.runAs?.uid !== nobody.uid) return place
  const uid = ownUsers.first + randomInt(ownUsers.count)
  const user: RunAs = { uid, gid: uid }
  const fault = findFault(place, user)
  if (fault !== undefined) {
    warnOfNobody(place, log, fault)
    return place
  }
  // Closed to `nobody`, who could put a link in the way. Where this is interrupted, the next start does it again.
  chownSync(place.data, 0, 0)
  for (const { parentPath, name } of readdirSync(place.data, { recursive: true, withFileTypes: true })) {
    lchownSync(join(parentPath, name), uid, uid)
  }
  chownSync(place.data, uid, uid)
  return { ...place, runAs: user }
}

/** Why the user cannot have the files; in some containers only few numbers are users. */
function findFault(place: Place, user: RunAs): string | undefined {
  const closed = closedFolder(place.home, user)
  if (closed !== undefined) return `another one cannot enter \`${closed}\``
  try {
    chownSync(place.data, user.uid, user.gid)
    return undefined
  } catch (error) {
    return `the system gives it no other: ${(error as Error).message}`
  }
}

/** Says what follows where the database runs as a user that others run as too. */
export function warnOfNobody(place: Place, log: Log, reason: string): void {
  if (place.runAs?.uid !== nobody.uid) return
  log(
    `the database runs as user ${nobody.uid} (${reason}): every other process of that user can read and change all data; start Sallyport as a user of its own`,
  )
}
