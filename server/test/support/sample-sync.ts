import { newId } from '../../src/kernel/id.ts'
import type { House, TestTenant } from './house.ts'

export const syncPaths = [
  '/v1/identity-providers/{id}/sync',
  '/v1/identity-providers/{id}/sync-runs',
  '/v1/identity-providers/{id}/sync-runs/{run_id}',
]

/** A directory that was read twice, and what the second reading did: the parameters of each of the paths. */
export async function makeSyncRuns(
  house: Pick<House, 'asSuperuser'>,
  { tenant_id, owner }: Pick<TestTenant, 'tenant_id' | 'owner'>,
): Promise<Record<string, string>[]> {
  const [id, earlier, run_id] = [newId(), newId(), newId()]
  await house.asSuperuser(
    `insert into identity_provider (tenant_id, id, name, provider_type, config, configured_by)
      values ($1, $2, 'd', 'directory_a', $3, $4)`,
    [
      tenant_id,
      id,
      JSON.stringify({ protocol: 'ldap', host: '127.0.0.1', base_dn: 'dc=example', tls: 'off' }),
      owner.user_id,
    ],
  )
  await house.asSuperuser(
    `insert into sync_run (tenant_id, id, identity_provider_id, status, started_at, finished_at)
      select $1, unnest($3::uuid[]), $2, 'synced', clock_timestamp(), clock_timestamp()`,
    [tenant_id, id, [earlier, run_id]],
  )
  await house.asSuperuser(
    `insert into sync_person (tenant_id, run_id, source_id, user_name, name, email, active, change, done)
      select $1, $2, n, n, n, n || '@example.com', true, 'add', true from unnest(array['a', 'b']) n`,
    [tenant_id, run_id],
  )
  return [{ id }, { id }, { id, run_id }]
}
