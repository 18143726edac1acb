import { sql } from '../../db/sql.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { Statement } from '../../kernel/context.ts'
import type { Person } from '../person.ts'
import { isOfPerson, type PersonKeys } from './conflict-store.ts'
import { userByExternalId } from './directory-user-store.ts'
import { comparedKeys, type Holder } from './holder.ts'
import { userBy } from './reporting-line-store.ts'

/** What a person of a directory needs for themselves: values, or columns of a row. */
type Wanted = { email_keys: Statement; name_key: Statement }

/** The users `u` who have what the person needs, and `d`, what a directory says of them: what follows `from`. Each is looked up by its key. */
function holders(ctx: DirectoryCtx, { email_keys, name_key }: Wanted): Statement {
  const { tx } = ctx
  return sql`(select t.id from tenant_user t where t.tenant_id = ${tx.tenant_id}::uuid
        and t.email_key = any(${email_keys}) and t.deleted_at is null
      union ${userBy(ctx, sql`d.user_name_key = ${name_key}`)}) h
    cross join lateral (
      select u.* from tenant_user u where u.tenant_id = ${tx.tenant_id}::uuid and u.id = h.id offset 0) u
    left join lateral (
      select d.* from directory_user d
      where d.tenant_id = ${tx.tenant_id}::uuid and d.user_id = h.id offset 0) d on true`
}

/** Whether the user `u` of `d` is one of this directory. */
const isTheirs = ({ identity_provider_id }: DirectoryCtx) =>
  sql`coalesce(d.identity_provider_id = ${identity_provider_id}::uuid, false)`

/** Who has what a new user of the directory needs. `has_id`: a user of it has the external id. Without `except`. */
export async function findHolders(
  ctx: DirectoryCtx,
  { external_id, ...rest }: Person,
  except: string | null = null,
): Promise<{ has_id: boolean; holders: Holder[] }> {
  const keys = comparedKeys(rest)
  const name_key = sql`${keys.name_key}::text`
  const person = { external_id: sql`${external_id}::text`, name_key }
  const wanted = { email_keys: sql`${[...keys.email_keys]}::text[]`, name_key }
  const [found] = await ctx.tx.read(sql<{ has_id: boolean; holders: Holder[] }>`select
      exists (${userByExternalId(ctx, person.external_id)} and d.user_id is distinct from ${except}::uuid)
        as has_id,
      (select coalesce(jsonb_agg(jsonb_build_object('id', u.id, 'email', u.email, 'in_directory', d.user_id is not null,
          'is_former', ${isTheirs(ctx)} and not u.active,
          'is_named', ${isTheirs(ctx)} and d.user_name_key = ${name_key},
          'is_meant', d.user_id is null and ${isMeant(ctx, sql`${keys.mail_domain}::text`)}
            and not ${isKeptApart(ctx, person)})), '[]')
        from ${holders(ctx, wanted)} where u.id is distinct from ${except}::uuid) as holders`)
  return found ?? { has_id: false, holders: [] }
}

/**
 * The same for a person `s` of many, as `strangerOf` decides it: a select of `match`, with `left_out` for whom a person has kept apart from
 * the user here, and `holder_id`, the one user who has what they need. `s` has email, `email_keys` and `mail_domain`.
 * @param external_id and `name_key` of the person. @param isHere whether the directory still has its active user `d`
 */
export function strangerMatch(
  ctx: DirectoryCtx,
  { external_id, name_key, isHere }: PersonKeys & { isHere: Statement },
): Statement {
  const wanted = { email_keys: sql`s.email_keys`, name_key }
  return sql`select case when count(*) = 0 then 'add'
        when count(*) > 1 or bool_or(h.in_directory and not h.is_former) then 'taken'
        when bool_and(h.kept_apart) then 'left_out' when bool_and(h.is_meant) then 'adopt' else 'settle' end as match,
      case when count(*) = 1 then (array_agg(h.id))[1] end as holder_id
    from (select u.id, d.user_id is not null as in_directory,
        ${isTheirs(ctx)} and not (u.active and ${isHere}) as is_former,
        d.user_id is null and lower(u.email) = lower(s.email) and ${isMeant(ctx, sql`s.mail_domain`)} as is_meant,
        ${isKeptApart(ctx, { external_id, name_key })} as kept_apart
      from ${holders(ctx, wanted)}) h`
}

/** Whether a person has kept the user `u` and the person of the directory apart. */
function isKeptApart({ identity_provider_id }: DirectoryCtx, person: PersonKeys): Statement {
  return sql`exists (select from directory_conflict c where c.tenant_id = u.tenant_id and c.user_id = u.id
    and c.identity_provider_id = ${identity_provider_id}::uuid and c.kept_apart_at is not null
    and ${isOfPerson(person)})`
}

/**
 * Whether the user `u` was made for the provider by which the users of the directory sign in, with an address of this mail domain, if that is
 * one of the tenant. Not one who was deactivated here: the directory would bring them back.
 */
function isMeant({ tx, identity_provider_id }: DirectoryCtx, domain: Statement): Statement {
  return sql`(u.active and u.auth_provider = 'oidc' and exists (select from tenant_mail_domain m
      where m.tenant_id = u.tenant_id and m.domain = ${domain})
    and exists (select from sign_in_setting s where s.tenant_id = ${tx.tenant_id}::uuid
      and s.identity_provider_id = ${identity_provider_id}::uuid and (u.issuer is null or u.issuer = s.issuer)))`
}
