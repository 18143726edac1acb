import { newId } from '../../src/kernel/id.ts'
import type { House, TestTenant } from './house.ts'

export const conflictPaths = [
  '/v1/identity-providers/{id}/preflight',
  '/v1/identity-providers/{id}/conflicts',
  '/v1/identity-providers/{id}/conflicts/{conflict_id}',
]

/** A directory with users whose addresses two people of the tenant have: the parameters of each of the paths. */
export async function makeConflicts(
  house: Pick<House, 'asSuperuser'>,
  { tenant_id, people }: TestTenant,
): Promise<Record<string, string>[]> {
  const [id, conflict_id, other] = [newId(), newId(), newId()]
  await house.asSuperuser(
    `insert into identity_provider (tenant_id, id, name, provider_type) values ($1, $2, 'd', 'custom_scim')`,
    [tenant_id, id],
  )
  await house.asSuperuser(
    `insert into directory_conflict (tenant_id, id, identity_provider_id, user_name_key, resource, user_id)
      select $1, c.id, $2, 'user', '{"userName": "user@example.com"}', c.user_id
      from unnest($3::uuid[], $4::uuid[]) as c (id, user_id)`,
    [tenant_id, id, [conflict_id, other], [people.user.user_id, people.approver.user_id]],
  )
  return [{ id }, { id }, { id, conflict_id }]
}
