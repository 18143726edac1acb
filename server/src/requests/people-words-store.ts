import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import { isUuid } from '../kernel/id.ts'
import type { EntityReference } from '../policy-engine/cedar/reading.ts'
import { type PersonName, peopleWords } from './people-words.ts'

/** The words for these groups, roles and people, for a caller with these scopes. One round trip, none for nobody. */
export async function findPeopleWords(
  tx: Tx,
  named: readonly EntityReference[],
  scopes: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  if (named.length === 0) return new Map()
  const idsOf = (type: string) => named.flatMap((one) => (one.type === type ? one.id : []))
  const [users, groups] = [idsOf('User'), idsOf('Group')].map((ids) => ids.filter(isUuid))
  const known = await tx.read(sql<PersonName>`
    select 'User' as type, id::text as id, name, email from tenant_user
      where tenant_id = ${tx.tenant_id} and id = any(${users ?? []}::uuid[])
    union all
    select 'Group', id::text, name, null from tenant_group
      where tenant_id = ${tx.tenant_id} and id = any(${groups ?? []}::uuid[])
    union all
    select 'Role', id, name, null from role where tenant_id = ${tx.tenant_id} and id = any(${idsOf('Role')}::text[])`)
  return peopleWords(named, known, scopes)
}
