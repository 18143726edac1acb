import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { typesInNamedAccount } from './provisioner.ts'
import type { ServedLine, ServedPlace } from './serving.ts'

/** Patterns with `*` that a tenant may have for a type: each is compared with each id. Concurrent calls may exceed it. */
const maxWild = 200

/**
 * Replaces the served lines of a provisioner, in their order.
 * @throws Problem 409 naming a line that another provisioner serves, 422 for too many patterns
 */
export async function replaceServed(tx: Tx, provisioner_id: string, lines: readonly ServedLine[]): Promise<void> {
  const tables = [
    { table: sql`served_resource`, what: sql`account_id`, own: lines.filter(({ id_pattern }) => id_pattern === '') },
    { table: sql`served_id`, what: sql`id_pattern`, own: lines.filter(({ id_pattern }) => id_pattern !== '') },
  ]
  const here = sql`s.tenant_id = ${tx.tenant_id} and s.provisioner_id = ${provisioner_id}`
  const plans = tables.map(({ table, what, own }) => {
    const served = sql`jsonb_to_recordset(${JSON.stringify(own)}::jsonb)
      as line (resource_type text, account_id text, id_pattern text)`
    const isSame = sql`line.resource_type = s.resource_type and line.${what} = s.${what}`
    return {
      findTaken: sql<ServedLine & { provisioner_id: string; name: string }>`
        select line.*, s.provisioner_id, p.name
        from ${served} join ${table} s on s.tenant_id = ${tx.tenant_id} and ${isSame}
            and s.provisioner_id <> ${provisioner_id}
          join provisioner p on p.tenant_id = s.tenant_id and p.id = s.provisioner_id
        limit 1`,
      remove: sql`delete from ${table} s where ${here} and not exists (select from ${served} where ${isSame})`,
      insert: sql`insert into ${table} (tenant_id, resource_type, ${what}, provisioner_id)
        select ${tx.tenant_id}::uuid, resource_type, ${what}, ${provisioner_id}::uuid
        from ${served} where not exists (select from ${table} s where ${here} and ${isSame})
        order by resource_type, ${what}`,
    }
  })
  const found = await tx.write([...plans.map(({ findTaken }) => findTaken), ...plans.map(({ remove }) => remove)])
  const taken = found.flat()[0] as (ServedLine & { provisioner_id: string; name: string }) | undefined
  if (taken !== undefined) throw alreadyServed(taken)
  // The primary keys stop a concurrent transaction from taking the same line.
  await tx.write(plans.map(({ insert }) => insert))
  if (lines.some(({ id_pattern }) => id_pattern.includes('*'))) await requireFewWild(tx)
}

async function requireFewWild({ tenant_id, read }: Tx): Promise<void> {
  const [full] = await read(sql<{ resource_type: string }>`select resource_type from served_id
    where tenant_id = ${tenant_id} and ${isWild} group by resource_type having count(*) > ${maxWild} limit 1`)
  if (full === undefined) return
  const message = `a tenant has at most ${maxWild} ids with \`*\` for \`${full.resource_type}\`: name whole ids, or accounts`
  throw new Problem('unprocessable', message)
}

const isWild = sql`strpos(id_pattern, '*') > 0`

type Resource = { type: Statement; id: Statement; account_id: Statement }

/**
 * The id of the provisioner that serves a resource of a tenant, as a value to embed: by the most specific line. A whole id comes before a
 * pattern, the pattern with more characters before the others, and any of them before the account, and that before all accounts.
 */
export function servingProvisioner(tenant_id: Statement, { type, id, account_id }: Resource): Statement {
  const ofType = sql`s.tenant_id = ${tenant_id} and s.resource_type = ${type}`
  return sql`(select line.provisioner_id from (
      select s.provisioner_id, s.precedence, s.id_pattern from served_id s where ${ofType} and s.id_pattern = ${id}
      union all
      select s.provisioner_id, s.precedence, s.id_pattern from served_id s
      where ${ofType} and ${isWild} and ${id} like s.id_like
      union all
      select s.provisioner_id, case s.account_id when '' then -1 else 0 end, '' from served_resource s
      where ${ofType} and s.account_id in ('', coalesce(${account_id}, ''))) line
    order by line.precedence desc, line.id_pattern collate "C" limit 1)`
}

/** Whether an enabled provisioner other than the sandbox serves something. */
export function servesRealTargets({ tenant_id }: Tx): Statement {
  return sql`exists (select from provisioner p
    where p.tenant_id = ${tenant_id} and p.enabled and p.provisioner_type <> 'sandbox' and ${servesAnything(sql`p`)})`
}

/** A line `s` is one of this provisioner. */
const isLineOf = (provisioner: Statement) =>
  sql`s.tenant_id = ${provisioner}.tenant_id and s.provisioner_id = ${provisioner}.id`

/** Whether a provisioner has a line of any kind. */
function servesAnything(provisioner: Statement): Statement {
  const isIts = isLineOf(provisioner)
  return sql`(exists (select from served_resource s where ${isIts}) or exists (select from served_id s where ${isIts}))`
}

/** The lines of a provisioner, as a value to embed in another statement. */
export function servedLinesAsJson(provisioner: Statement): Statement {
  const isIts = isLineOf(provisioner)
  return sql`coalesce((select jsonb_agg(to_jsonb(line)) from (
      select s.resource_type, s.account_id, '' as id_pattern from served_resource s where ${isIts}
      union all
      select s.resource_type, '', s.id_pattern from served_id s where ${isIts}) line), '[]')`
}

/**
 * Of these places, those where a live tenant gives access, by their `keyOfPlace`, as an array to embed in another statement. Nothing is
 * simulated there, so that a sandbox does not count. Where the tenant is in rehearsal, nothing needs to serve a place: null.
 */
export function servedPlaces({ tenant_id }: Tx, places: readonly ServedPlace[]): Statement {
  const resource = { type: sql`place.type`, id: sql`place.id`, account_id: sql`place.account_id` }
  return sql`(select array(select place.type || ' ' || place.id
      from jsonb_to_recordset(${JSON.stringify(places)}::jsonb) as place (type text, id text, account_id text)
      where exists (select from provisioner p where p.tenant_id = ${tenant_id}
        and p.id = ${servingProvisioner(sql`${tenant_id}`, resource)} and p.provisioner_type <> 'sandbox'))
    from tenant t where t.id = ${tenant_id} and t.mode = 'live')`
}

/**
 * Whether access to such a resource is given in the account that the request names (null: in none), as a value to embed in another
 * statement. What nothing serves is not given anywhere else. `isEarlier`: the database may be of a version that knows no ids here.
 */
export function actsInNamedAccount({ tenant_id }: Tx, resource: Resource, isEarlier = false): Statement {
  const serving = isEarlier
    ? sql`(select s.provisioner_id from served_resource s where s.tenant_id = ${tenant_id}
        and s.resource_type = ${resource.type} and s.account_id in ('', coalesce(${resource.account_id}, ''))
      order by s.account_id desc limit 1)`
    : servingProvisioner(sql`${tenant_id}`, resource)
  return sql`coalesce((select p.provisioner_type = any(${[...typesInNamedAccount]}::text[])
    from provisioner p where p.tenant_id = ${tenant_id} and p.id = ${serving}), true)`
}

function alreadyServed(taken: ServedLine & { provisioner_id: string; name: string }): Problem {
  const { resource_type, account_id, id_pattern, provisioner_id, name } = taken
  const inAccounts = account_id === '' ? 'in every account without a line of its own' : `in the account ${account_id}`
  const where = id_pattern === '' ? inAccounts : `with the id \`${id_pattern}\``
  return new Problem(
    'resource_already_served',
    `\`${resource_type}\` ${where} is served by the provisioner “${name}” already; remove it there first`,
    { details: { resource_type, account_id: account_id || null, resource_id: id_pattern || null, provisioner_id } },
  )
}
