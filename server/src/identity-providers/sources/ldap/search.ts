import { onOneLine } from '../../../kernel/one-line-name.ts'
import { TargetError } from '../../../provisioners/driver.ts'
import type { Entry } from './read-message.ts'
import type { Query, Session } from './session.ts'

/** More than any reading needs: 200,000 people one by one. */
const maxPages = 250_000
/** Active Directory may send an empty page after it has searched for a while without finding anything. */
const maxEmptyPages = 200

/** Parts of Active Directory's tree that hold no people: each search from the top refers to them. */
const emptyParts = /^ldaps?:\/\/[^/]*\/(?:DC=(?:Forest|Domain)DnsZones|CN=Configuration),DC=/i

/**
 * All entries of a search, page by page (RFC 2696). It ends when the server says that there are no more, and in no other way.
 * @throws TargetError also where another server has a part of it
 */
export async function* searchAll(session: Session, query: Query): AsyncGenerator<Entry[]> {
  const at = `\`${query.field}\` \`${query.base}\``
  let cookie: Buffer | undefined
  let empty = 0
  for (let page = 0; page < maxPages; page += 1) {
    const { entries, references, cookie: next } = await session.searchPage(query, cookie)
    const reference = references.find((url) => !emptyParts.test(url))
    if (reference !== undefined) {
      throw new TargetError(
        'permanent',
        `the server refers to \`${onOneLine(reference).slice(0, 200)}\` for a part of ${at}, which is not followed: choose a base without that part`,
      )
    }
    yield entries
    if (next === undefined) {
      throw new TargetError('permanent', `the server does not say whether ${at} has more pages: turn paged results on`)
    }
    if (next.length === 0) return
    cookie = next
    empty = entries.length === 0 ? empty + 1 : 0
    if (empty > maxEmptyPages) break
  }
  throw new TargetError('transient', `the server comes to no end of ${at}`)
}
