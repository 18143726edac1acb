type Query = (text: string, values?: unknown[]) => Promise<unknown>

/** Inserts so many active users with the role `approver` into the tenant. */
export async function seedManyApprovers(query: Query, tenant_id: string, count: number): Promise<void> {
  await query(
    `with made as (
        insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
        select $1, gen_random_uuid(), n || '@many.example', n || '@many.example', 'p' || n, 'local'
          from generate_series(1, $2::integer) n returning id)
      insert into user_role (tenant_id, user_id, role_id) select $1, id, 'approver' from made`,
    [tenant_id, count],
  )
}
