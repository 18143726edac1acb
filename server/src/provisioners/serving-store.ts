import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { typesInNamedAccount } from './provisioner.ts'
import type { ServedLine } from './serving.ts'

/**
 * Replaces the served lines of a provisioner, in their order.
 * @throws Problem 409 naming a line that another provisioner serves
 */
export async function replaceServed(tx: Tx, provisioner_id: string, lines: readonly ServedLine[]): Promise<void> {
  const served = sql`jsonb_to_recordset(${JSON.stringify(lines)}::jsonb) as line (resource_type text, account_id text)`
  const [[taken]] = await tx.write([
    sql<ServedLine & { provisioner_id: string; name: string }>`
      select s.resource_type, s.account_id, s.provisioner_id, p.name
      from ${served} join served_resource s on s.tenant_id = ${tx.tenant_id} and s.resource_type = line.resource_type
          and s.account_id = line.account_id and s.provisioner_id <> ${provisioner_id}
        join provisioner p on p.tenant_id = s.tenant_id and p.id = s.provisioner_id
      limit 1`,
    sql`delete from served_resource s where s.tenant_id = ${tx.tenant_id} and s.provisioner_id = ${provisioner_id}
      and not exists (select from ${served}
        where line.resource_type = s.resource_type and line.account_id = s.account_id)`,
  ])
  if (taken !== undefined) throw alreadyServed(taken)
  // The primary key stops a concurrent transaction from taking the same line.
  await tx.write([
    sql`insert into served_resource (tenant_id, resource_type, account_id, provisioner_id)
      select ${tx.tenant_id}::uuid, resource_type, account_id, ${provisioner_id}::uuid
      from ${served} where not exists (select from served_resource s where s.tenant_id = ${tx.tenant_id}
        and s.provisioner_id = ${provisioner_id} and s.resource_type = line.resource_type
        and s.account_id = line.account_id)
      order by resource_type, account_id`,
  ])
}

/** Whether an enabled provisioner other than the sandbox serves something. */
export function servesRealTargets({ tenant_id }: Tx): Statement {
  return sql`exists (select from provisioner p
    join served_resource s on s.tenant_id = p.tenant_id and s.provisioner_id = p.id
    where p.tenant_id = ${tenant_id} and p.enabled and p.provisioner_type <> 'sandbox')`
}

/**
 * Of these accounts, those in which a provisioner serves the type, as an array to embed in another statement. The empty text stands
 * for every account without a line of its own.
 */
export function servedAccounts({ tenant_id }: Tx, resource_type: string, account_ids: Statement): Statement {
  return sql`array(select s.account_id from served_resource s where s.tenant_id = ${tenant_id}
    and s.resource_type = ${resource_type}::text and (s.account_id = '' or s.account_id = any(${account_ids}::text[])))`
}

/** The lines of all types for these accounts, and for every account without a line of its own, as one value to embed. */
export function servedLinesAsJson({ tenant_id }: Tx, account_ids: Statement): Statement {
  return sql`(select coalesce(jsonb_agg(jsonb_build_object(
      'resource_type', s.resource_type, 'account_id', s.account_id)), '[]') from served_resource s
    where s.tenant_id = ${tenant_id} and (s.account_id = '' or s.account_id = any(${account_ids}::text[])))`
}

/**
 * Whether access to such a resource is given in the account that the request names (null: in none), as a value to embed in another
 * statement. What nothing serves is not given anywhere else.
 */
export function actsInNamedAccount({ tenant_id }: Tx, resource_type: Statement, account_id: Statement): Statement {
  return sql`coalesce((select p.provisioner_type = any(${[...typesInNamedAccount]}::text[])
    from served_resource s
      join provisioner p on p.tenant_id = s.tenant_id and p.id = s.provisioner_id
    where s.tenant_id = ${tenant_id} and s.resource_type = ${resource_type}
      and s.account_id in ('', coalesce(${account_id}, ''))
    order by s.account_id desc limit 1), true)`
}

function alreadyServed(taken: ServedLine & { provisioner_id: string; name: string }): Problem {
  const { resource_type, account_id, provisioner_id, name } = taken
  const where = account_id === '' ? 'in every account without a line of its own' : `in the account ${account_id}`
  return new Problem(
    'resource_already_served',
    `\`${resource_type}\` ${where} is served by the provisioner “${name}” already; remove it there first`,
    { details: { resource_type, account_id: account_id === '' ? null : account_id, provisioner_id } },
  )
}
