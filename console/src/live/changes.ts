import type { Schemas } from '@sallyport/client'

/** A record that changed; without an id, all of its type. */
export type Hint = { type: Schemas['RecordHint']['type'] | 'notification'; id: string | null }

/** The first part of a query's key says what it shows; the second is `list`, or the id of the record. */
export type Key = readonly [kind: string, of?: unknown, ...rest: unknown[]]

/** The kinds of queries whose answers change with a record of another type. */
const alsoShown: Readonly<Record<string, readonly string[]>> = {
  request: ['catalogue', 'comment'],
  // A request shows the access that it gave, and the catalogue what a person has.
  grant: ['catalogue'],
  policy: ['catalogue', 'preview', 'request'],
  cloud_account: ['catalogue', 'preview'],
  user: ['me', 'preview', 'inventory'],
  role: ['me', 'preview'],
  group: ['me', 'catalogue', 'preview'],
  setting: ['me', 'catalogue', 'preview'],
  provisioner: ['catalogue', 'grant', 'inventory'],
  notification: ['me'],
}

/** Whether the answer to a query may have changed with this record. */
export function concerns([kind, of]: Key, { type, id }: Hint): boolean {
  if (alsoShown[type]?.includes(kind)) return true
  return kind === type && (id === null || of === 'list' || of === id)
}
