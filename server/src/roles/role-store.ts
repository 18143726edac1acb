import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { systemRoles } from './role.ts'

/** Gives a new tenant its system roles, in one statement; to stand in the transaction that makes the tenant. */
export function systemRolesInsert(tx: Tx): Statement {
  return sql`insert into role (tenant_id, id, name, description, scopes, system)
    select ${tx.tenant_id}::uuid, id, name, description, scopes, true
    from jsonb_to_recordset(${JSON.stringify(Object.values(systemRoles))}::jsonb)
      as role (id text, name text, description text, scopes text[])`
}
