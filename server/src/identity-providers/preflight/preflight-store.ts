import { sql } from '../../db/sql.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import { isUnmatched } from '../../inventory/user-match-store.ts'
import type { Statement, Tx } from '../../kernel/context.ts'
import type { Config } from '../../provisioners/driver.ts'
import type { DriverTypes } from '../../provisioners/drivers.ts'
import type { ProvisionerType } from '../../provisioners/provisioner.ts'
import type { UserLookup } from '../../provisioners/user-lookup.ts'
import { userByExternalId } from '../../scim/users/directory-user-store.ts'
import { userBy } from '../../scim/users/reporting-line-store.ts'
import { strangerMatch } from '../../scim/users/stranger-store.ts'
import type { Matched, PersonToMatch, TargetPeople } from './preflight.ts'

/** The people as rows `s`; the id is what a sign-in would have as its subject. */
function rowsOf(people: readonly PersonToMatch[]): Statement {
  return sql`jsonb_to_recordset(${JSON.stringify(people)}::jsonb) as s (at integer, external_id text, name_key text,
    email text, email_key text, email_keys text[], mail_domain text)`
}

/** Who each of the people would be here, as the directory finds its users: by the id, and by the name. Each is looked up by its keys. */
export function matchPeople(ctx: DirectoryCtx, people: readonly PersonToMatch[]): Promise<Matched[]> {
  const { tx } = ctx
  const known = sql`coalesce((${userByExternalId(ctx, sql`s.external_id`)}),
    (${userBy(ctx, sql`d.user_name_key = s.name_key`)}))`
  const match = sql`case when k.user_id is not null then 'known' else (${strangerMatch(ctx, sql`true`)}) end`
  return tx.read(sql<Matched>`select s.at, case c.match when 'invalid' then 'refused' else c.match end as match,
      coalesce(k.user_id, (select u.id from tenant_user u where u.tenant_id = ${tx.tenant_id}::uuid
        and u.email_key = any(s.email_keys) and u.deleted_at is null order by u.id limit 1)) as user_id
    from ${rowsOf(people)} cross join lateral (select ${known} as user_id offset 0) k
      cross join lateral (select ${match} as match offset 0) c
    order by s.at`)
}

/** Targets that one call asks. */
const maxTargets = 20

/** A target whose people were read. */
export type KnownTarget = { provisioner_id: string; name: string; lookup: UserLookup }

/** The targets that have a directory of their own, which was read. */
export async function listTargets(tx: Tx, types: DriverTypes): Promise<KnownTarget[]> {
  const rows = await tx.read(
    sql<{ id: string; name: string; type: ProvisionerType; config: Config }>`select p.id, p.name,
        p.provisioner_type as type, p.config
      from inventory_part i join provisioner p on p.tenant_id = i.tenant_id and p.id = i.provisioner_id
      where i.tenant_id = ${tx.tenant_id} and i.part = 'people' and i.finished_at is not null
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
