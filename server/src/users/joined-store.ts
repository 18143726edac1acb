import { sql } from '../db/sql.ts'
import type { Statement } from '../kernel/context.ts'
import { hasSecondFactor } from '../second-factors/second-factor-store.ts'

/** Whether nobody could ever sign in as `u`, a row of tenant_user: by no password, second factor or account at a provider. */
export function neverJoined(u: Statement): Statement {
  return sql`(${u}.deleted_at is null and (${u}.auth_provider = 'oidc' and ${u}.subject is null
    or ${u}.auth_provider = 'local' and not ${hasSecondFactor(u)}
      and not exists (select from user_password p where p.tenant_id = ${u}.tenant_id and p.user_id = ${u}.id)))`
}

/**
 * Whether `u`, a row of tenant_user, was invited and has not joined: no invitation of theirs was used, and nobody could ever sign in. How
 * an unused invitation ended makes no difference. A value and no join, so that each user costs one look at an index.
 */
export function waitsToJoin(u: Statement): Statement {
  return sql`(coalesce((select bool_and(i.ended_as is distinct from 'used') from invitation i
      where i.tenant_id = ${u}.tenant_id and i.user_id = ${u}.id), false) and ${neverJoined(u)})`
}
