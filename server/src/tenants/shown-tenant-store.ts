import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { isActive } from '../users/active-store.ts'
import type { Mode } from './mode.ts'
import type { Suspension } from './suspension-store.ts'
import type { NamedTenant } from './tenant-store.ts'

/** A tenant in the operator's list. */
export type TenantRow = NamedTenant & {
  /** Null: none. */
  slug: string | null
  mode: Mode
  /** Null: not suspended. */
  suspended: Suspension | null
  users: number
  owners: string[]
}

/** A tenant as the operator sees it: counts and names, nothing of what its people wrote. */
export type ShownTenant = TenantRow & {
  live_since: string | null
  mail_domains: string[]
  /** Of `users`: neither deactivated nor suspended. */
  active_users: number
  pending_requests: number
  /** Grants that wait to be given, or are active. */
  live_grants: number
  /** Those of them at a target that is not the sandbox. */
  real_grants: number
  provisioners: number
  /** Null: there is none. */
  last_event: { type: string; at: string } | null
}

const row = (tx: Tx): Statement => sql`t.id, t.name, t.slug, t.mode, t.created_at,
  case when t.suspended_at is not null
    then jsonb_build_object('since', t.suspended_at, 'reason', t.suspended_reason) end as suspended,
  (select count(*)::integer from tenant_user where tenant_id = ${tx.tenant_id} and deleted_at is null) as users,
  array(select email from tenant_user where tenant_id = ${tx.tenant_id} and is_owner order by id) as owners`

/** The tenant in the list; undefined when there is none. */
export async function findTenantRow(tx: Tx): Promise<TenantRow | undefined> {
  const [found] = await tx.read(sql<TenantRow>`select ${row(tx)} from tenant t where t.id = ${tx.tenant_id}`)
  return found && { ...found, suspended: withMoment(found.suspended, 'since') }
}

/** A moment inside a JSON value has the spelling of the database. */
function withMoment<Name extends string, Value extends Record<Name, string>>(value: Value | null, name: Name) {
  return value && { ...value, [name]: new Date(value[name]).toISOString() }
}

/** All that is shown of a tenant, in one round trip; each count and the last event read an index of that tenant. */
export async function findShownTenant(tx: Tx): Promise<ShownTenant | undefined> {
  const { tenant_id } = tx
  const live = sql`g.tenant_id = ${tenant_id} and g.status in ('pending', 'active')`
  const [found] = await tx.read(sql<ShownTenant>`select ${row(tx)}, t.live_since,
      array(select d.domain from tenant_mail_domain d
        where d.tenant_id = ${tenant_id} order by d.domain) as mail_domains,
      (select count(*)::integer from tenant_user u
        where u.tenant_id = ${tenant_id} and u.deleted_at is null and ${isActive(sql`u`)}) as active_users,
      (select count(*)::integer from access_request r
        where r.tenant_id = ${tenant_id} and r.status = 'pending') as pending_requests,
      (select count(*)::integer from access_grant g where ${live}) as live_grants,
      (select count(*)::integer from access_grant g join entitlement e
          on e.tenant_id = g.tenant_id and e.id = g.entitlement_id
        where ${live} and e.provisioner <> 'sandbox') as real_grants,
      (select count(*)::integer from provisioner p where p.tenant_id = ${tenant_id}) as provisioners,
      (select jsonb_build_object('type', e.type, 'at', e.at) from event e
        where e.tenant_id = ${tenant_id} order by e.seq desc limit 1) as last_event
    from tenant t where t.id = ${tenant_id}`)
  if (found === undefined) return undefined
  const { suspended, last_event } = found
  return { ...found, suspended: withMoment(suspended, 'since'), last_event: withMoment(last_event, 'at') }
}
