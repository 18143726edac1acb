import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { domainKey, type UserLookup } from '../provisioners/user-lookup.ts'
import type { Inventoried } from './standing-access.ts'

/**
 * By what a target finds a user, as statements: the rule of `loginOf`, for addresses as they are compared. The keys also equal where the
 * target may see a difference, such as `ß` and `ss`: then a grant fails of which this says that it would not.
 */

/** The key of the login that the target looks for to find the user `u`; null: an address of another domain. */
function loginKeyOf(u: Statement, { email_domain }: Pick<UserLookup, 'email_domain'>): Statement {
  if (email_domain === null) return sql`${u}.email_key`
  const domain = sql`${domainKey(email_domain)}::text`
  return sql`case when right(${u}.email_key, char_length(${domain})) = ${domain}
    then left(${u}.email_key, -char_length(${domain})) end`
}

/** Whether the inventory has no person whom the target would take for the user `u`. */
export function isUnmatched(tx: Tx, provisioner_id: string, u: Statement, lookup: UserLookup): Statement {
  const person = sql`select true from inventory_person p where p.tenant_id = ${tx.tenant_id}::uuid
    and p.provisioner_id = ${provisioner_id}::uuid`
  const byLogin = sql`(${person} and p.login_key = ${loginKeyOf(u, lookup)} limit 1) is null`
  if (lookup.external_id_issuer === null) return byLogin
  return sql`(${person} and p.external_id = ${u}.subject limit 1) is null and ${byLogin}`
}

/** The id of the user whom the target takes for the person `p`, whose external ids come first; null if there is none. */
export function userOfPerson(tx: Tx, p: Statement, { provisioner_id, lookup }: Inventoried): Statement {
  const user = sql`select u.id from tenant_user u where u.tenant_id = ${tx.tenant_id}::uuid and u.deleted_at is null`
  if (lookup === null) return sql`null`
  const domain = lookup.email_domain === null ? '' : domainKey(lookup.email_domain)
  // In the order of the users' own indexes: by that of the inventory, each row would read all users.
  return sql`coalesce(
    (${user} and u.subject = ${p}.external_id collate "default" order by u.id limit 1),
    (${user} and u.email_key = (${p}.login_key || ${domain}::text) collate "default"
      and (select true from inventory_person other where other.tenant_id = ${tx.tenant_id}::uuid
        and other.provisioner_id = ${provisioner_id}::uuid and other.external_id = u.subject limit 1) is null limit 1))`
}
