import type { GroupRead, PersonRead, ReadDirectory } from '../../src/provisioners/target-directory.ts'

/** What a reading of a directory found, until the end or its error. Each group once, with all its members. */
export type DirectoryFound = { people: PersonRead[]; groups: GroupRead[]; pages: number; error: unknown }

/** @throws Error when a person comes after a group */
export async function directoryOf(
  read: ReadDirectory | null,
  { groups = true, signal = new AbortController().signal } = {},
): Promise<DirectoryFound> {
  const people: PersonRead[] = []
  const pagesOfGroups: GroupRead[] = []
  let [pages, error]: [number, unknown] = [0, undefined]
  try {
    for await (const page of read?.({ groups }, signal) ?? []) {
      pages += 1
      if (pagesOfGroups.length > 0 && (page.people ?? []).length > 0) throw new Error('a person came after a group')
      people.push(...(page.people ?? []))
      pagesOfGroups.push(...(page.groups ?? []))
    }
  } catch (thrown) {
    error = thrown
  }
  const byId = Map.groupBy(pagesOfGroups, ({ id }) => id)
  const whole = [...byId].map(([id, all]) => {
    return { id, name: all[0]?.name ?? '', member_ids: all.flatMap(({ member_ids }) => member_ids) }
  })
  return { people, groups: whole, pages, error }
}
