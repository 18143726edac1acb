import { newId } from '../../src/kernel/id.ts'
import { inParts } from './in-parts.ts'

type Query = (text: string, values?: unknown[]) => Promise<unknown>

/**
 * Inserts `count` active grants that end at `ends`, each held at the sandbox, as if approved long ago, and spread over new
 * tenants. Returns the tenants.
 */
export async function seedManyGrants(query: Query, count: number, tenants: number, ends: string): Promise<string[]> {
  const tenant_ids = Array.from({ length: tenants }, newId)
  await query('drop table if exists pg_temp.seed, pg_temp.seeded')
  await query(
    `create temp table seed as select tenant_id, gen_random_uuid() as user_id, gen_random_uuid() as request_id, place
      from unnest(string_to_array('${tenant_ids.join(',')}', ',')::uuid[]) with ordinality as t (tenant_id, place)`,
  )
  await query(`create temp table seeded as
    select seed.*, n, gen_random_uuid() as entitlement_id, lpad(n::text, 12, '0') as account,
      jsonb_build_array(user_id, null, 'cloud_account', lpad(n::text, 12, '0'), 'ReadOnly')::text as key
    from generate_series(1, ${count}) n join seed on place = n % ${tenants} + 1`)
  await query(`insert into tenant (id, name) select tenant_id, 'many' from seed`)
  await query(`insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
    select tenant_id, user_id, 'ada@example.com', 'ada@example.com', 'Ada', 'local' from seed`)
  await query(`insert into access_request (tenant_id, id, requester_id, resource_type, resource_id, action, status,
      approval_mode, break_glass, duration_seconds, metadata, audit_session, places, asked_via, source_ip)
    select tenant_id, request_id, user_id, 'cloud_account', '1', 'ReadOnly', 'approved', 'auto', false, 3600, '{}',
      false,
      '[]', 'token', '127.0.0.1' from seed`)
  await inParts(count, (from, until) =>
    query(`insert into sandbox_assignment (tenant_id, key) select tenant_id, key from seeded
      where n between ${from} and ${until}`),
  )
  await inParts(count, (from, until) =>
    query(
      `insert into entitlement (tenant_id, id, provisioner, target_key, target, held_before, observed, next_look_at)
      select tenant_id, entitlement_id, 'sandbox', key, jsonb_build_object('key', key), false, 'present',
        $1::timestamptz
      from seeded where n between $2::integer and $3::integer`,
      [ends, from, until],
    ),
  )
  await query(
    `insert into sweep (tenant_id, id, provisioner, next_look_at)
      select tenant_id, gen_random_uuid(), 'sandbox', $1 from seed`,
    [ends],
  )
  // A grant and its entitlement share their id.
  await inParts(count, (from, until) =>
    query(
      `insert into access_grant (tenant_id, id, request_id, user_id, name, resource_type, resource_id, action,
        duration_seconds, status, provisioning_status, entitlement_id, activated_at, expires_at, activate_by)
      select tenant_id, entitlement_id, request_id, user_id, 'ReadOnly on ' || account, 'cloud_account', account,
        'ReadOnly', 3600, 'active', 'successful', entitlement_id, $1::timestamptz - interval '1 hour', $1::timestamptz,
        $1::timestamptz
      from seeded where n between $2::integer and $3::integer`,
      [ends, from, until],
    ),
  )
  return tenant_ids
}
