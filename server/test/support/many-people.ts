import { newId } from '../../src/kernel/id.ts'

type Query = (text: string, values?: unknown[]) => Promise<unknown>

/** In one statement: a trigger keeps the plan that it made for an empty table, which reads the whole table for each row of a later part. */
const atOnce = (count: number, insert: (from: number, until: number) => Promise<unknown>) => insert(1, count)

/** A tenant with `count` users, and as many groups and cloud accounts, of a year. The groups are named by how they are used. */
export type ManyPeople = { tenant_id: string; groups: Record<'everybody' | 'few' | 'newest' | 'oldest', string> }

/**
 * Inserts the tenant. All users have the role `user`, a few `admin`; a few left, are suspended, or sign in by SAML. Everybody is in one
 * group; another has few members, and two have the newest and the oldest. A role comes by hundreds of groups without members.
 */
export async function seedManyPeople(query: Query, count: number): Promise<ManyPeople> {
  const tenant_id = newId()
  const groups = { everybody: newId(), few: newId(), newest: newId(), oldest: newId() }
  await query(`insert into tenant (id, name) values ($1, 'many people')`, [tenant_id])
  await query(
    `insert into role (tenant_id, id, name, scopes)
      select $1::uuid, id, id || ' role', '{}' from unnest($2::text[]) id`,
    [
      tenant_id,
      ['user', 'admin', 'auditor', 'by-groups', 'nobody', ...Array.from({ length: 20 }, (_, n) => `custom ${n}`)],
    ],
  )
  await atOnce(count, (from, until) =>
    query(
      `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider, active, created_at,
        suspended_until, deleted_at)
      select $1::uuid, ${idOf('n')}, name || '.' || n || '@example.com', name || n,
        initcap(name) || ' Example ' || n % 5000,
        case when n % 2000 = 3 then 'saml' when n < 50 then 'oidc' else 'local' end, n % 3000 <> 4 and n % 10 <> 9,
        ${momentOf('n')},
        case when n % 2500 = 5 then '2099-01-01'::timestamptz when n % 50 = 6 then '2024-01-01'::timestamptz end,
        case when n % 10 = 9 then now() end
      from generate_series($2::integer, $3::integer) n,
        lateral (select (array['anna', 'ben', 'benjamin', 'chloe', 'dilara'])[1 + n % 5] as name) as names`,
      [tenant_id, from, until],
    ),
  )
  await atOnce(count, (from, until) =>
    query(
      `insert into user_role (tenant_id, user_id, role_id)
      select $1::uuid, ${idOf('n')}, role from generate_series($2::integer, $3::integer) n,
        lateral unnest(array['user', case when n % 1000 = 1 then 'admin' end, case when n < 40 then 'auditor' end]) role
      where n % 10 <> 9 and role is not null`,
      [tenant_id, from, until],
    ),
  )
  await atOnce(count, (from, until) =>
    query(
      `insert into tenant_group (tenant_id, id, name, source, created_at)
      select $1::uuid, ${idOf('n')}, 'Team ' || n || case when n % 700 = 1 then ' rare' else '' end,
        case when n % 900 = 5 then 'scim' else 'local' end, ${momentOf('n')}
      from generate_series($2::integer, $3::integer) n`,
      [tenant_id, from, until],
    ),
  )
  await query(
    `insert into tenant_group (tenant_id, id, name, source, created_at)
      select $1::uuid, id, 'Zone', 'local', '2024-06-01' from unnest($2::uuid[]) id`,
    [tenant_id, Object.values(groups)],
  )
  await atOnce(count, (from, until) =>
    query(
      `insert into group_member (tenant_id, group_id, user_id, membership_source)
      select $1::uuid, g, ${idOf('n')}, 'local' from generate_series($7::integer, $8::integer) n, lateral unnest(array[
        $3::uuid, case when n % 2000 = 1 then $4::uuid end, case when n > $2::integer * 0.9 then $5::uuid end,
        case when n < 500 then $6::uuid end, case when n = 77 then $3::uuid end]) g
      where n % 10 <> 9 and g is not null
      union select $1::uuid, ${idOf('n')}, ${idOf('77')}, 'local'
        from generate_series($7::integer, $8::integer) n where n % 20 = 1`,
      [tenant_id, count, ...Object.values(groups), from, until],
    ),
  )
  await query(
    `insert into group_role (tenant_id, group_id, role_id)
      select $1::uuid, ${idOf('n')}, 'by-groups' from generate_series(1, 2000) n where n % 20 <> 1
      union all select $1::uuid, $2::uuid, 'by-groups' union all select $1::uuid, $2::uuid, 'admin'`,
    [tenant_id, groups.everybody],
  )
  await atOnce(count, (from, until) =>
    query(
      `insert into cloud_account (tenant_id, id, name, account_id, metadata, rank)
      select $1::uuid, 'entry-' || n, 'Payments ' || n % 3000, lpad(n::text, 12, '0'), '{}', n % 7
      from generate_series($2::integer, $3::integer) n`,
      [tenant_id, from, until],
    ),
  )
  return { tenant_id, groups }
}

/** As ids of `newId`: in the order of creation. */
export function idOf(n: string): string {
  return `(lpad(to_hex(1700000000000 + ${n} * 1000), 12, '0') || '70008000' || lpad(to_hex(${n}), 12, '0'))::uuid`
}

function momentOf(n: string): string {
  return `'2024-01-01'::timestamptz + make_interval(secs => ${n} * 300)`
}
