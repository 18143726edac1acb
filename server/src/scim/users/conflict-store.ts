import { sql } from '../../db/sql.ts'
import { emitWithFacts } from '../../events/emit.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import { newId } from '../../kernel/id.ts'
import { searchedName } from '../filter.ts'
import type { UserContent } from './user-content.ts'

/**
 * Keeps that the directory has a user whose address another user has, and emits it the first time. A directory sends the same again and again:
 * what it said last is kept.
 */
export async function keepConflict(
  ctx: DirectoryCtx,
  user_id: string,
  { person, resource }: Pick<UserContent, 'person' | 'resource'>,
): Promise<void> {
  const { tx, identity_provider_id } = ctx
  const about = { subject_type: 'identity_provider', subject_id: identity_provider_id }
  const event = { type: 'identity_provider.conflict_found', ...about } as const
  await tx.write([
    sql`with known as (
        update directory_conflict set user_name_key = ${searchedName(person.user_name)},
          resource = ${JSON.stringify(resource)}::jsonb, seen_at = clock_timestamp()
        where tenant_id = ${tx.tenant_id}::uuid and identity_provider_id = ${identity_provider_id}::uuid
          and user_id = ${user_id}::uuid
        returning id),
      made as (
        insert into directory_conflict (tenant_id, id, identity_provider_id, user_id, user_name_key, resource)
        select ${tx.tenant_id}::uuid, ${newId()}::uuid, ${identity_provider_id}::uuid, ${user_id}::uuid,
          ${searchedName(person.user_name)}, ${JSON.stringify(resource)}::jsonb
        where not exists (select from known)
        on conflict on constraint directory_conflict_user_id_uq do nothing
        returning id, jsonb_build_object('conflict_id', id, 'user_id', user_id) as facts),
      emitted as (${emitWithFacts(ctx, event, sql`made`)})
      select id from made`,
  ])
}
