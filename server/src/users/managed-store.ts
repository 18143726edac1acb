import { sql } from '../db/sql.ts'
import type { Statement } from '../kernel/context.ts'

/** The identity provider that manages `u`, a row of tenant_user; null: the user is managed here. */
export function directoryOf(u: Statement): Statement<string | null> {
  return sql<string | null>`(select d.identity_provider_id from directory_user d
    where d.tenant_id = ${u}.tenant_id and d.user_id = ${u}.id)`
}
