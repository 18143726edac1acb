import { newId } from '../../src/kernel/id.ts'
import type { TestDatabase } from './database.ts'

/** A grant to insert, as the list shows it. `provisioner`: its id, or `sandbox`; null: not planned. */
export type ListedGrant = {
  id: string
  request_id: string
  user_id: string
  status: string
  provisioning_status: string
  resource_type: string
  resource_id: string
  action: string
  provisioner: string | null
  drifted: boolean
  created_at: string
  expires_at: string | null
  ended_by: string | null
  approved_by: string | null
}

/** Inserts grants with their requests and entitlements. A request's first grant says who made and who decided it. */
export async function insertListedGrants(
  { asSuperuser }: Pick<TestDatabase, 'asSuperuser'>,
  tenant_id: string,
  grants: readonly ListedGrant[],
): Promise<void> {
  const rows = grants.map((grant) => ({ ...grant, entitlement_id: grant.provisioner && newId() }))
  const of = `jsonb_to_recordset($2::jsonb) as g (id uuid, request_id uuid, user_id uuid, status text,
    provisioning_status text, resource_type text, resource_id text, action text, provisioner text, drifted boolean,
    created_at timestamptz, expires_at timestamptz, ended_by uuid, approved_by uuid, entitlement_id uuid)`
  const insert = (text: string) => asSuperuser(text, [tenant_id, JSON.stringify(rows)])
  await insert(`insert into access_request (tenant_id, id, requester_id, resource_type, resource_id, action, status,
      approval_mode, break_glass, duration_seconds, metadata, audit_session, places, asked_via, source_ip, decided_by)
    select distinct on (request_id) $1, request_id, user_id, resource_type, resource_id, action, 'approved', 'require',
      false, 3600, '{}'::jsonb, false, '[]'::jsonb, 'token', '127.0.0.1', approved_by from ${of}`)
  await insert(`insert into entitlement (tenant_id, id, provisioner, provisioner_id, target_key, target, held_before,
      observed)
    select $1, entitlement_id, 'sandbox', case when provisioner <> 'sandbox' then provisioner::uuid end,
      entitlement_id::text, '{}', false, 'present' from ${of} where provisioner is not null`)
  await insert(`insert into access_grant (tenant_id, id, request_id, user_id, name, resource_type, resource_id, action,
      duration_seconds, status, provisioning_status, entitlement_id, activated_at, expires_at, activate_by, ended_at,
      ended_by, created_at)
    select $1, id, request_id, user_id, action, resource_type, resource_id, action, 3600, status, provisioning_status,
      entitlement_id, case when expires_at is not null then created_at end, expires_at, created_at,
      case when status not in ('pending', 'active') then created_at end, ended_by, created_at from ${of}`)
  await insert(`update entitlement e set drift = 'removed', drifted_at = clock_timestamp() from ${of}
    where e.tenant_id = $1 and e.id = g.entitlement_id and g.drifted`)
}

/** Active or expired grants of one user that hardly differ: the action of each thousandth is `Rare`. */
export async function insertCrowd(
  house: Pick<TestDatabase, 'asSuperuser'>,
  tenant_id: string,
  user_id: string,
  count: number,
  status: 'active' | 'expired',
): Promise<void> {
  const provisioning_status = status === 'active' ? 'successful' : 'deprovisioned'
  const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 0, minutes)).toISOString()
  const crowd = Array.from({ length: count }, (_, n) => ({
    ...{ id: newId(), request_id: newId(), user_id, status, provisioning_status, resource_type: 'cloud_account' },
    ...{ resource_id: '100000000001', action: n % 1_000 === 5 ? 'Rare' : 'ReadOnly', provisioner: 'sandbox' },
    ...{ drifted: false, created_at: at(n), expires_at: at(1_000), ended_by: null, approved_by: null },
  }))
  await insertListedGrants(house, tenant_id, crowd)
}
