import { sql } from '../db/sql.ts'
import type { SealedPlace, Statement, Tx } from '../kernel/context.ts'

/** A sealed value in its row. `row`: the row's key within the tenant, as text. */
export type SealedValue = { row: string; sealed: string }

/** A column of sealed values. */
export type SealedColumn = {
  name: string
  place(tx: Tx, row: string): SealedPlace
  /** A page of values of the rows after this one. */
  list(tx: Tx, after: string, limit: number): Statement<SealedValue>
  /** Replaces a value unless it changed meanwhile. Returns a row if it did. */
  replace(tx: Tx, before: SealedValue, sealed: string): Statement
}

/** A column `sealed_secrets` with one value per row. `key` identifies the row within the tenant. */
function secretsOf(name: string, table: Statement, key: Statement): SealedColumn {
  return {
    name: `${name}.sealed_secrets`,
    place: (_, row) => ({ table: name, id: row, field: 'sealed_secrets' }),
    list: (tx, after, limit) =>
      sql<SealedValue>`select ${key}::text as row, sealed_secrets as sealed from ${table}
        where tenant_id = ${tx.tenant_id} and ${key}::text > ${after} and sealed_secrets is not null
        order by ${key}::text limit ${limit}`,
    replace: (tx, before, sealed) =>
      sql`update ${table} set sealed_secrets = ${sealed}
        where tenant_id = ${tx.tenant_id} and ${key} = ${before.row} and sealed_secrets = ${before.sealed}
        returning tenant_id`,
  }
}

/** Every column that holds values sealed for a tenant. A test checks that the list is complete. */
export const sealedColumns: readonly SealedColumn[] = [
  secretsOf('identity_provider', sql`identity_provider`, sql`id`),
  secretsOf('provisioner', sql`provisioner`, sql`id`),
  secretsOf('notification_channel', sql`notification_channel`, sql`id`),
  secretsOf('second_factor', sql`second_factor`, sql`id`),
  secretsOf('ai_provider', sql`ai_provider`, sql`type`),
  secretsOf('invitation_mail', sql`invitation_mail`, sql`id`),
  {
    name: 'sign_in_setting.sealed_client_secret',
    place: ({ tenant_id }) => ({ table: 'sign_in_setting', id: tenant_id, field: 'client_secret' }),
    list: (tx, after, limit) =>
      sql<SealedValue>`select tenant_id::text as row, sealed_client_secret as sealed from sign_in_setting
        where tenant_id = ${tx.tenant_id} and tenant_id::text > ${after} and sealed_client_secret is not null
        limit ${limit}`,
    replace: (tx, before, sealed) =>
      sql`update sign_in_setting set sealed_client_secret = ${sealed}
        where tenant_id = ${tx.tenant_id} and sealed_client_secret = ${before.sealed}
        returning tenant_id`,
  },
  {
    name: 'kept_answer.sealed_answer',
    place: (_, row) => ({ table: 'kept_answer', id: row, field: 'sealed_answer' }),
    list: (tx, after, limit) =>
      sql<SealedValue>`select encode(id, 'hex') as row, sealed_answer as sealed from kept_answer
        where tenant_id = ${tx.tenant_id} and id > decode(${after}, 'hex') order by id limit ${limit}`,
    replace: (tx, before, sealed) =>
      sql`update kept_answer set sealed_answer = ${sealed}
        where tenant_id = ${tx.tenant_id} and id = decode(${before.row}, 'hex') and sealed_answer = ${before.sealed}
        returning tenant_id`,
  },
]
