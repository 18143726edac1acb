/** Whom a directory has, page by page. What is read decides who may sign in here, and who no longer may. */

/**
 * A person. `id`: the directory's own id of them, which never changes and is never given to another person. `resource`: a user as RFC 7643
 * describes one, without `id` and `externalId`. In lists that have no order, the values come in the same order at each reading.
 */
export type PersonRead = { id: string; resource: Readonly<Record<string, unknown>> }

/** A group, with the ids of the people who are its members, directly or by a group in it. Some of them: a group may come on several pages. */
export type GroupRead = { id: string; name: string; member_ids: readonly string[] }

/** Some of what a directory has. A page may be empty: it shows that the reading goes on. */
export type DirectoryPage = { people?: readonly PersonRead[]; groups?: readonly GroupRead[] }

/** The largest directory that is read. `members`: memberships, those by groups in groups included. */
export const directoryLimits: Readonly<Record<'people' | 'groups' | 'members', number>> = {
  people: 200_000,
  groups: 50_000,
  members: 2_000_000,
}

/**
 * Reads a directory from its beginning to its end: every person before every group. Those who are disabled there come with `active: false`,
 * or do not come. A reading that misses a person must fail: who is missing is deactivated.
 * @throws TargetError with how to fix it
 */
export type ReadDirectory = (what: { groups: boolean }, signal: AbortSignal) => AsyncIterable<DirectoryPage>
