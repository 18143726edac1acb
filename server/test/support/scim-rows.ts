import type { House } from './house.ts'

/** Inserts users of a directory as if they had been made one by one: `person{n}@many.example`. Returns their ids, in order. */
export async function insertDirectoryUsers(
  { asSuperuser }: Pick<House, 'asSuperuser'>,
  {
    tenant_id,
    identity_provider_id,
    count,
    from = 1,
  }: { tenant_id: string; identity_provider_id: string; count: number; from?: number },
): Promise<string[]> {
  const rows = await asSuperuser<{ id: string }>(
    `with person as materialized (
        select gen_random_uuid() as id, n, 'person' || n || '@many.example' as address
        from generate_series($3::integer, $3::integer + $4::integer - 1) as n),
      u as (
        insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider, department)
        select $1::uuid, id, address, address, 'Person ' || n, 'oidc', 'dept ' || n % 100 from person returning id),
      role as (insert into user_role (tenant_id, user_id, role_id) select $1::uuid, id, 'user' from u),
      d as (
        insert into directory_user (tenant_id, user_id, identity_provider_id, external_id, user_name_key, resource)
        select $1::uuid, id, $2::uuid, 'x' || n, address, jsonb_build_object('userName', address, 'active', true,
          'externalId', 'x' || n, 'displayName', 'Person ' || n, 'title', 'title ' || n % 10,
          'name', jsonb_build_object('givenName', 'Given' || n % 500, 'familyName', 'Family' || n),
          'emails', jsonb_build_array(jsonb_build_object('value', address, 'type', 'work', 'primary', true)),
          'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
          jsonb_build_object('department', 'dept ' || n % 100))
        from person),
      v as (
        insert into directory_value (tenant_id, identity_provider_id, user_id, path, key, element)
        select $1::uuid, $2::uuid, id, path, key, 0
        from person, lateral (values ('userName', address), ('active', 'true'),
          ('externalId', 'x' || n), ('displayName', 'person ' || n), ('title', 'title ' || n % 10),
          ('name.givenName', 'given' || n % 500), ('name.familyName', 'family' || n), ('emails.value', address),
          ('emails.type', 'work'), ('emails.primary', 'true'), ('department', 'dept ' || n % 100)) as value (path, key))
      select id from person order by n`,
    [tenant_id, identity_provider_id, from, count],
  )
  return rows.map(({ id }) => id)
}
