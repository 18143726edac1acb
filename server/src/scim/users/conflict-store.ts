import { sql } from '../../db/sql.ts'
import { emitWithFacts } from '../../events/emit.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { Statement } from '../../kernel/context.ts'
import { newId } from '../../kernel/id.ts'
import { searchedName } from '../filter.ts'
import type { UserContent } from './user-content.ts'

/** By what a directory knows a person: values, or columns of a row. */
export type PersonKeys = { external_id: Statement; name_key: Statement }

/** Whether the conflict `c` is about the person: by the id, and by the name of one without. */
export function isOfPerson({ external_id, name_key }: PersonKeys): Statement {
  return sql`case when ${external_id} is null then c.resource ->> 'externalId' is null and c.user_name_key = ${name_key}
    else coalesce(c.resource ->> 'externalId' = ${external_id}, false) end`
}

/**
 * Keeps that the directory has a person whose address or name a user has, and emits it the first time for this user. A directory sends the
 * same person again and again: what it said last is kept. Another person is another conflict, in the place of the one before: who settles
 * one has seen whom it is about.
 */
export async function keepConflict(
  ctx: DirectoryCtx,
  user_id: string,
  { person, resource }: Pick<UserContent, 'person' | 'resource'>,
): Promise<void> {
  const { tx, identity_provider_id } = ctx
  const about = { subject_type: 'identity_provider', subject_id: identity_provider_id }
  const event = { type: 'identity_provider.conflict_found', ...about } as const
  const name_key = searchedName(person.user_name)
  const id = newId()
  const isSame = isOfPerson({ external_id: sql`${person.external_id}::text`, name_key: sql`${name_key}::text` })
  const kept = (column: Statement, otherwise: Statement) =>
    sql`case when ${isSame} then ${column} else ${otherwise} end`
  await tx.write([
    sql`with elsewhere as (
        delete from directory_conflict c
        where c.tenant_id = ${tx.tenant_id}::uuid and c.identity_provider_id = ${identity_provider_id}::uuid
          and c.user_id <> ${user_id}::uuid and ${isSame}),
      known as (
        update directory_conflict c set user_name_key = ${name_key}, resource = ${JSON.stringify(resource)}::jsonb,
          seen_at = clock_timestamp(), id = ${kept(sql`c.id`, sql`${id}::uuid`)},
          created_at = ${kept(sql`c.created_at`, sql`clock_timestamp()`)},
          kept_apart_by = ${kept(sql`c.kept_apart_by`, sql`null`)},
          kept_apart_at = ${kept(sql`c.kept_apart_at`, sql`null`)}
        where c.tenant_id = ${tx.tenant_id}::uuid and c.identity_provider_id = ${identity_provider_id}::uuid
          and c.user_id = ${user_id}::uuid
        returning id),
      made as (
        insert into directory_conflict (tenant_id, id, identity_provider_id, user_id, user_name_key, resource)
        select ${tx.tenant_id}::uuid, ${id}::uuid, ${identity_provider_id}::uuid, ${user_id}::uuid, ${name_key},
          ${JSON.stringify(resource)}::jsonb
        where not exists (select from known)
        on conflict on constraint directory_conflict_user_id_uq do nothing
        returning id, jsonb_build_object('conflict_id', id, 'user_id', user_id) as facts),
      emitted as (${emitWithFacts(ctx, event, sql`made`)})
      select id from made`,
  ])
}
