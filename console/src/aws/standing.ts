import type { Schemas } from '@sallyport/client'
import type { Filters } from './inventory-queries.ts'

export type Held = Schemas['StandingAccess']

/** What follows one another in the list and is of one account, or of one person. */
export type Group = {
  key: string
  name: string
  /** Null where the name says as much. */
  id: string | null
  held: Held[]
}

/** What a row of a list begins with: the account, or the holder, whose id says nothing to people. */
function headOf({ account, holder }: Held, order: Filters['order']): Omit<Group, 'held'> {
  const [key, { name }, id] =
    order === 'account' ? [account.id, account, account.id] : [`${holder.type} ${holder.id}`, holder, holder.login]
  return { key, name, id: id === name ? null : id }
}

/** The list under headings, in its order. */
export function groupsOf(rows: readonly Held[], order: Filters['order']): Group[] {
  const groups: Group[] = []
  for (const row of rows) {
    const head = headOf(row, order)
    const last = groups.at(-1)
    if (last?.key === head.key) last.held.push(row)
    else groups.push({ ...head, held: [row] })
  }
  return groups
}

/** Names a row among all: a person may hold one set on one account by several groups. */
export const keyOf = ({ account, permission_set, holder, via_group }: Held): string =>
  [account.id, permission_set.id, holder.type, holder.id, via_group?.id].join(' ')
