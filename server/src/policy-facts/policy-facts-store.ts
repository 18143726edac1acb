import {
  type AccountForPolicy,
  accountKindsAsJson,
  accountsForPolicyAsJson,
  readAccountsForPolicy,
} from '../cloud/cloud-account-store.ts'
import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import { isUuid } from '../kernel/id.ts'
import type { LiteralFacts, Principal, ResourceReference } from '../policy-engine/cedar/question.ts'
import { type AccountTraits, type EntityReference, entityKey } from '../policy-engine/cedar/reading.ts'
import { earlierPeople, principalAsJson } from '../users/principal-store.ts'
import { type AccountKind, everyKind, maxKinds } from './account-kind.ts'
import { accountInId, resourceIn } from './resource.ts'

type Row = { users: Principal[]; accounts: AccountForPolicy[]; kinds: AccountKind[] }

/**
 * The facts about these entities, and, with `traits`, the kinds of account that rules with these traits can tell apart. One round
 * trip, one snapshot. `isEarlier`: the database may be of an earlier version.
 */
export async function readPolicyFacts(
  tx: Tx,
  named: readonly EntityReference[],
  traits: AccountTraits | undefined,
  isEarlier = false,
): Promise<{ literals: LiteralFacts; kinds: readonly AccountKind[] | 'too_many' }> {
  const user_ids = named.flatMap(({ type, id }) => (type === 'User' && isUuid(id) ? id : []))
  const account_ids = named.flatMap((one) => accountOf(one) ?? []).filter((id) => !id.includes('\0'))
  const [row] = await tx.read(sql<Row>`${isEarlier ? sql`with ${earlierPeople} ` : sql``}select
      (select coalesce(jsonb_agg(${principalAsJson(tx, sql`named.id`)}), '[]') from tenant_user named
        where named.tenant_id = ${tx.tenant_id} and named.id = any(${user_ids}::uuid[])) as users,
      ${accountsForPolicyAsJson(tx, sql`${account_ids}`)} as accounts,
      ${traits === undefined ? sql`'[]'::jsonb` : accountKindsAsJson(tx, traits, maxKinds + 1)} as kinds`)
  if (row === undefined) throw new Error('a select without a from answered no row')
  return {
    literals: literalFacts(named, row),
    kinds: traits === undefined ? [] : everyKind(row.kinds, traits),
  }
}

function literalFacts(named: readonly EntityReference[], { users, accounts }: Row): LiteralFacts {
  const people = new Map(users.map((user) => [user.id, user]))
  const views = readAccountsForPolicy(accounts)
  const factOf = (one: EntityReference) => {
    const user = one.type === 'User' ? people.get(one.id) : undefined
    if (user !== undefined) return { user }
    const account_id = accountOf(one)
    // Of everything else that a rule can name, Sallyport knows nothing but the id.
    if (account_id === undefined || (one.type === 'cloud_account' && !views.has(account_id))) return null
    return { resource: resourceIn(one as ResourceReference, account_id, views) }
  }
  return new Map(named.map((one) => [entityKey(one), factOf(one)]))
}

function accountOf({ type, id }: EntityReference): string | undefined {
  return type === 'cloud_account' || type === 'cloud_db_instance' ? accountInId({ type, id }) : undefined
}
