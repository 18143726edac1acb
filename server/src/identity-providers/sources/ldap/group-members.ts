import { TargetError } from '../../../provisioners/driver.ts'
import { shortDn, valuesOf } from './entry.ts'
import type { Entry } from './read-message.ts'
import type { Session } from './session.ts'

/** The attributes that name members. */
export const memberAttributes = ['member', 'uniqueMember', 'memberUid']

/**
 * All values of an attribute. Active Directory sends at most some 1,500 at once, as `member;range=0-1499`; the rest is asked for
 * until `member;range=…-*`.
 * @throws TargetError where a part is missing
 */
export async function* allValues(
  session: Pick<Session, 'readEntry'>,
  entry: Entry,
  name: string,
): AsyncGenerator<readonly Buffer[]> {
  yield valuesOf(entry, name)
  let part = findRange(entry, name)
  if (part !== undefined && part.from !== 0) throw asIncomplete(entry, name)
  while (part !== undefined) {
    yield part.values
    if (part.to === '*') return
    const from: number = part.to + 1
    const more = await session.readEntry(entry.dn, [`${name};range=${from}-*`])
    part = more && findRange(more, name)
    // Each part goes on where the one before ended, so that this ends.
    if (part?.from !== from) throw asIncomplete(entry, name)
  }
}

/** A part of the values of an attribute: the places of its first and its last value. `*`: it is the last part. */
type Range = { from: number; to: number | '*'; values: readonly Buffer[] }

/** The part that an entry shows. `from` is -1 where it has not as many values as it says. */
function findRange({ attributes }: Entry, name: string): Range | undefined {
  for (const [described, values] of attributes) {
    const [, base, first, last] = /^([^;]+);range=(\d{1,9})-(\d{1,9}|\*)$/.exec(described) ?? []
    if (base !== name.toLowerCase()) continue
    const from = Number(first)
    if (last === '*') return { from, to: last, values }
    const to = Number(last)
    return { from: values.length === to - from + 1 ? from : -1, to, values }
  }
  return undefined
}

function asIncomplete(entry: Entry, name: string): TargetError {
  return new TargetError('transient', `the server did not send all values of \`${name}\` of \`${shortDn(entry)}\``)
}
