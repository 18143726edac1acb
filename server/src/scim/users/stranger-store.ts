import { sql } from '../../db/sql.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { Statement } from '../../kernel/context.ts'
import { isMeant } from './directory-user-store.ts'

/**
 * Who the person `s`, who is no user of the directory yet, would be here: `add`, `adopt`, `settle`, `left_out` or `invalid`, as a select to
 * embed in another statement. Who has the address already decides it. A user whom the directory has stopped, or no longer has, may be the
 * same person under another id. `s` has email, email_keys and mail_domain.
 * @param isHere whether the directory still has its active user `d`
 */
export function strangerMatch(ctx: DirectoryCtx, isHere: Statement): Statement {
  const { tx, identity_provider_id } = ctx
  return sql`select case when count(*) = 0 then 'add' when count(*) > 1 or bool_or(h.in_directory) then 'invalid'
      when bool_and(h.is_meant) then 'adopt' when bool_and(h.kept_apart) then 'left_out' else 'settle' end
    from (select d.user_id is not null and (
          d.identity_provider_id <> ${identity_provider_id}::uuid or u.active and ${isHere}) as in_directory,
        lower(u.email) = lower(s.email) and d.user_id is null and ${isMeant(ctx, sql`s.mail_domain`)} as is_meant,
        exists (select from directory_conflict c where c.tenant_id = u.tenant_id and c.user_id = u.id
          and c.identity_provider_id = ${identity_provider_id}::uuid and c.kept_apart_at is not null) as kept_apart
      from tenant_user u left join lateral (
        select d.user_id, d.identity_provider_id, d.external_id from directory_user d
        where d.tenant_id = ${tx.tenant_id}::uuid and d.user_id = u.id offset 0) d on true
      where u.tenant_id = ${tx.tenant_id}::uuid and u.email_key = any(s.email_keys) and u.deleted_at is null) h`
}
