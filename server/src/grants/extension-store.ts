import { isoMoment, sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { settingSeconds } from '../settings/setting-store.ts'
import type { ExtendableGrant } from './extension.ts'
import { type GrantDetail, minSeconds } from './grant.ts'
import { isBefore } from './grant-transition-store.ts'

const isActiveGrant = (g: Statement) => sql`(${g}.status = 'active' and ${g}.expires_at > clock_timestamp())`
const isActive = isActiveGrant(sql`g`)

/** Half of its own time must be used. That of an extension begins when the grant that it extends ends. */
const extendableFrom = sql`(g.expires_at - make_interval(secs => g.duration_seconds / 2.0))`

/** For how long the holder has the access without a gap when the grant ends. */
const heldSeconds = sql`ceil(extract(epoch from g.expires_at - coalesce(g.held_since, g.activated_at)))::integer`

/** A request `r` extends the grant already, or may yet. */
const extendsGrant = (g: Statement) => sql`r.tenant_id = ${g}.tenant_id and r.extends = ${g}.id and (
    r.status = 'pending' or r.status = 'approved' and exists (select from access_grant x
      where x.tenant_id = r.tenant_id and x.request_id = r.id and x.status in ('pending', 'active')))`
const extendsIt = extendsGrant(sql`g`)

export async function findExtendable(tx: Tx, id: string): Promise<ExtendableGrant | undefined> {
  const [grant] = await tx.read(sql<ExtendableGrant>`select g.id, g.user_id, g.status,
      g.by_person or coalesce(e.by_person, false) as by_person,
      ${isActive} as is_active, ${extendableFrom} as extendable_from,
      coalesce(${extendableFrom} <= clock_timestamp(), false) as is_half_used,
      (select r.id from access_request r where ${extendsIt} limit 1) as extended_by,
      coalesce(${heldSeconds}, 0) as held_seconds,
      jsonb_build_object('type', g.resource_type, 'id', g.resource_id, 'account_id', g.account_id,
        'permission_set', g.permission_set) as place,
      jsonb_build_object('resource_type', a.resource_type, 'resource_id', a.resource_id, 'action', a.action,
        'metadata', a.metadata, 'break_glass', a.break_glass) as request
    from access_grant g join access_request a on a.tenant_id = g.tenant_id and a.id = g.request_id
      left join entitlement e on e.tenant_id = g.tenant_id and e.id = g.entitlement_id
    where g.tenant_id = ${tx.tenant_id} and g.id = ${id}`)
  return grant
}

/** What a message says of the extension of the grant `held`: its holder may extend it now, an extension waits for a decision, or neither. */
export function extensionNow(tx: Tx, held: Statement): Statement {
  return sql`(select case
      when exists (select from access_request r where ${extendsIt} and r.status = 'pending') then 'waits'
      when ${isActive} and ${extendableFrom} <= clock_timestamp() and ${secondsLeft(tx)} >= ${minSeconds}
        and not exists (select from access_request r where ${extendsIt}) then 'possible' end
    from (select ${held}.*) g)`
}

/** For how much longer the grant can make the access last. */
function secondsLeft(tx: Tx): Statement {
  return sql`(${settingSeconds(tx, 'requests.max_duration_seconds')} - ${heldSeconds})`
}

export type ExtensionColumns = Pick<GrantDetail, 'extended_by' | 'extendable'>

/** What the detail of the grants `r` says of their extension: one row for each. */
export function extensionOf(tx: Tx): Statement {
  const left = secondsLeft(tx)
  return sql`(select extended.by as extended_by,
      case when ${isActive} and extended.by is null and ${left} >= ${minSeconds} then jsonb_build_object(
        'from', ${isoMoment(extendableFrom)}, 'max_duration_seconds', ${left}) end as extendable
    from (select r.*) g left join lateral (
      select jsonb_build_object('request_id', r.id, 'status', r.status,
        'until', ${isoMoment(extendedUntil(sql`g`))}) as by
      from access_request r where ${extendsIt} limit 1) extended on true)`
}

/**
 * Whether the grant may be extended at this moment, and its holder has the access for as long as was read. INVARIANT: the transaction
 * has locked the holder against other writes, as every end of a grant before its time and every other extension does.
 */
export function isExtendable(
  tx: Tx,
  { grant_id, held_seconds }: { grant_id: string; held_seconds: number },
): Statement {
  return sql`exists (select from access_grant g where g.tenant_id = ${tx.tenant_id} and g.id = ${grant_id}::uuid
    and ${isActive} and ${extendableFrom} <= clock_timestamp() and ${heldSeconds} = ${held_seconds}::integer
    and not exists (select from access_request r where ${extendsIt}))`
}

/** When the grant ends: an extension of it is decided by then. */
export function endOfGrant(tx: Tx, grant_id: string): Statement {
  return sql`(select g.expires_at from access_grant g where g.tenant_id = ${tx.tenant_id} and g.id = ${grant_id}::uuid)`
}

/** When the live grant ends that extends the grant `g`, which waits for it or has begun; null: there is none. */
export function extendedUntil(g: Statement): Statement {
  return sql`(select max(coalesce(x.expires_at, x.starts_at + make_interval(secs => x.duration_seconds)))
    from access_request r join access_grant x on x.tenant_id = r.tenant_id and x.request_id = r.id
    where r.tenant_id = ${g}.tenant_id and r.extends = ${g}.id and x.status in ('pending', 'active'))`
}

/** Whether the grant goes on at this moment. */
export function goesOn(tx: Tx, grant_id: string): Statement {
  return sql`exists (select from access_grant g
    where g.tenant_id = ${tx.tenant_id} and g.id = ${grant_id}::uuid and ${isActive})`
}

/** Whether the failed grant `g` may begin again: as an extension only while the grant that it extends goes on, and has no other. */
export const mayExtendAgain = sql`(g.starts_at is null or exists (
  select from access_request own
    join access_grant former on former.tenant_id = own.tenant_id and former.id = own.extends
  where own.tenant_id = g.tenant_id and own.id = g.request_id and ${isActiveGrant(sql`former`)}
    and not exists (select from access_request r where ${extendsGrant(sql`former`)})))`

/** The ids of a live grant and of those that extend it, directly or through others: an array. Each step is a look-up, as in `firstOf`. */
export function withExtensions(tx: Tx, id: string): Statement {
  return sql`array(with recursive chain as (
      select g.id from access_grant g
      where g.tenant_id = ${tx.tenant_id} and g.id = ${id}::uuid and ${isBefore('revoke')}
      union select later.id from chain cross join lateral (
        select g.id from access_request r join access_grant g on g.tenant_id = r.tenant_id and g.request_id = r.id
        where r.tenant_id = ${tx.tenant_id} and r.extends = chain.id offset 0) later)
    select id from chain)`
}

/**
 * The id of the grant at the beginning: of `g`, of what it extends, and so on. Most grants extend none. Each step is a look-up by key: by a
 * join, a plan without statistics would read all requests of the tenant.
 */
export function firstOf(g: Statement): Statement {
  const requestOf = sql`(select r.extends from access_request r
    where r.tenant_id = ${g}.tenant_id and r.id = chain.request_id offset 0)`
  return sql`(with recursive chain as (
      select ${g}.id, ${g}.request_id
      union select former.id, former.request_id from chain cross join lateral ${requestOf} r
        cross join lateral (select former.id, former.request_id from access_grant former
          where former.tenant_id = ${g}.tenant_id and former.id = r.extends offset 0) former)
    select chain.id from chain cross join lateral ${requestOf} r where r.extends is null limit 1)`
}
