import { sql } from '../../db/sql.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import { isUnmatched } from '../../inventory/user-match-store.ts'
import type { Statement, Tx } from '../../kernel/context.ts'
import type { Config } from '../../provisioners/driver.ts'
import type { DriverTypes } from '../../provisioners/drivers.ts'
import type { ProvisionerType } from '../../provisioners/provisioner.ts'
import type { UserLookup } from '../../provisioners/user-lookup.ts'
import { userByExternalId } from '../../scim/users/directory-user-store.ts'
import { strangerMatch } from '../../scim/users/holder-store.ts'
import { userBy } from '../../scim/users/reporting-line-store.ts'
import { type Matched, maxTargets, type PersonToMatch, type TargetPeople } from './preflight.ts'

/** The people as rows `s`; the id is what a sign-in would have as its subject. */
function rowsOf(people: readonly PersonToMatch[]): Statement {
  return sql`jsonb_to_recordset(${JSON.stringify(people)}::jsonb) as s (at integer, external_id text, name_key text,
    email text, email_key text, email_keys text[], mail_domain text)`
}

/**
 * Who each of the people would be here. A user of the directory is known by the id, and by the name where one of the two has no id: under
 * another id, they are somebody else. Each is looked up by their keys.
 */
export function matchPeople(ctx: DirectoryCtx, people: readonly PersonToMatch[]): Promise<Matched[]> {
  const { tx } = ctx
  const isOfName = sql`d.user_name_key = s.name_key and (d.external_id is null or s.external_id is null)`
  const known = sql`coalesce((${userByExternalId(ctx, sql`s.external_id`)}), (${userBy(ctx, isOfName)}))`
  const of = { external_id: sql`s.external_id`, name_key: sql`s.name_key`, isHere: sql`true` }
  const isTaken = sql`exists (select from tenant_user u where u.tenant_id = ${tx.tenant_id}::uuid
    and u.email_key = any(s.email_keys) and u.deleted_at is null and u.id <> k.user_id)`
  return tx.read(sql<Matched>`select s.at, coalesce(k.user_id, m.holder_id) as user_id,
      case when k.user_id is null then m.match when ${isTaken} then 'taken' else 'known' end as match
    from ${rowsOf(people)} cross join lateral (select ${known} as user_id offset 0) k
      left join lateral (select * from (${strangerMatch(ctx, of)}) m where k.user_id is null offset 0) m on true
    order by s.at`)
}

/** A target whose people were read. */
export type KnownTarget = { provisioner_id: string; name: string; lookup: UserLookup }

/** The targets that have a directory of their own, which was read. */
export async function listTargets(tx: Tx, types: DriverTypes): Promise<KnownTarget[]> {
  const withPeople = Object.keys(types).filter((type) => types[type as ProvisionerType].userLookupOf !== undefined)
  const rows = await tx.read(
    sql<{ id: string; name: string; type: ProvisionerType; config: Config }>`select p.id, p.name,
        p.provisioner_type as type, p.config
      from provisioner p
      where p.tenant_id = ${tx.tenant_id} and p.provisioner_type = any(${withPeople}::text[]) and exists (
        select from inventory_part i where i.tenant_id = p.tenant_id and i.provisioner_id = p.id
          and i.part = 'people' and i.finished_at is not null)
      order by p.id limit ${maxTargets}`,
  )
  return rows.flatMap(({ id, name, type, config }) => {
    const lookup = types[type].userLookupOf?.(config)
    return lookup === undefined ? [] : [{ provisioner_id: id, name, lookup }]
  })
}

/** Whom the target does not have. */
export async function findMissing(
  tx: Tx,
  target: KnownTarget,
  people: readonly PersonToMatch[],
): Promise<TargetPeople> {
  const { provisioner_id, name, lookup } = target
  const rows = await tx.read(sql<{ at: number }>`select s.at
    from (select s.at, s.email_key, s.external_id as subject from ${rowsOf(people)}) s
    where ${isUnmatched(tx, provisioner_id, sql`s`, lookup)}`)
  return { provisioner_id, name, not_found: rows.map(({ at }) => at) }
}
