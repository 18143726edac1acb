import { newId } from '../../src/kernel/id.ts'

type Query = (text: string, values?: unknown[]) => Promise<unknown>

/** The records of a tenant that the seed needs, and those that it makes. */
export type Seeded = { tenant_id: string; owner: string; user: string; few: string }

const idOf = (n: string) =>
  `(lpad(to_hex(1700000000000 + ${n} * 1000), 12, '0') || '70008000' || lpad(to_hex(${n}), 12, '0'))::uuid`
const momentOf = (n: string) => `'2024-01-01'::timestamptz + make_interval(secs => ${n} * 300)`

/**
 * Inserts `count` rows into each table that has a list, besides those of lives. Nearly all rows have the same values. The five oldest have other
 * ones, so that a filter by them finds few rows, behind all others. The owner has read nearly all notifications, and the user none. `few`: the id of the group and of the provider that these have.
 */
export async function seedManyOfEach(query: Query, { tenant_id, owner, user, few }: Seeded, count: number) {
  const [many, channel, run, provider] = [newId(), newId(), newId(), newId()]
  // Rows as they would be, without what triggers do for each.
  await query('set session_replication_role = replica')
  const each = (table: string, columns: string, values: string) =>
    query(
      `insert into ${table} (tenant_id, ${columns})
        select '${tenant_id}', ${values} from generate_series(1, ${count}) n`,
    )
  const rare = (usual: string, other: string) => `case when n > 5 then ${usual} else ${other} end`
  const words = (table: string, id: string) => each(table, `${id}, word`, `${idOf('n')}, ${rare(`'usual'`, `'rare'`)}`)
  await seedPeople({ each, words, rare }, { many, few, count })
  await each('policy', 'id, name, priority, created_at', `${idOf('n')}, 'Policy ' || n, 1000 + n, ${momentOf('n')}`)
  await words('policy_word', 'policy_id')
  await query(
    `insert into identity_provider (tenant_id, id, name, provider_type)
      select $1, unnest($2::uuid[]), 'a directory', 'custom_scim'`,
    [tenant_id, [provider, few]],
  )
  await each(
    'api_key',
    'id, name, secret_hash, scopes, created_by, kind, identity_provider_id, revoked_at, created_at',
    `${idOf('n')}, 'Key', sha256(n::text::bytea), '{}', '${owner}', 'scim', ${rare(`'${provider}'::uuid`, `'${few}'`)},
      ${rare('null', `now()`)}, ${momentOf('n')}`,
  )
  await words('api_key_word', 'api_key_id')
  await each(
    'notification',
    'id, user_id, event_id, event_type, title, body, read_at',
    `${idOf('n')}, '${owner}', ${idOf('n')}, 'request.created', 'title', 'body', ${rare('now()', 'null')}`,
  )
  await each(
    'notification',
    'id, user_id, event_id, event_type, title, body, read_at',
    `${idOf(`n + ${count}`)}, '${user}', ${idOf('n')}, 'request.created', 'title', 'body', null`,
  )
  await seedDeliveries(query, tenant_id, channel)
  await query(
    `insert into sync_run (tenant_id, id, identity_provider_id, status, finished_at, next_look_at)
      values ($1, $2, $3, 'synced', now(), null)`,
    [tenant_id, run, provider],
  )
  await each(
    'sync_person',
    'run_id, source_id, active, change, done',
    `'${run}', ${rare(`lpad(n::text, 8, '0')`, `'z' || n`)}, true, ${rare(`'unchanged'`, `'add'`)}, n > 5`,
  )
  await query('reset session_replication_role')
  return { many, channel, run, provider }
}

/** One of each event. */
async function seedDeliveries(query: Query, tenant_id: string, channel: string): Promise<void> {
  await query(
    `insert into notification_channel (tenant_id, id, name, channel_type, config)
      values ($1, $2, 'a channel', 'email', '{"to_addresses": []}')`,
    [tenant_id, channel],
  )
  await query(
    `insert into delivery_lane (tenant_id, id, channel_id, channel_type, recipient) values ($1, $2, $2, 'email', 'a')`,
    [tenant_id, channel],
  )
  await query(
    `insert into delivery (tenant_id, id, lane_id, channel_id, event_id, seq, xid, status, give_up_at, finished_at,
        next_attempt_at)
      select $1, gen_random_uuid(), $2, $2, id, seq, xid, case when n > 5 then 'delivered' else 'failed' end, now(),
        now(), null from (select *, row_number() over (order by seq) as n from event where tenant_id = $1) e`,
    [tenant_id, channel],
  )
}

type Inserts = {
  each: (table: string, columns: string, values: string) => Promise<unknown>
  words: (table: string, id: string) => Promise<unknown>
  rare: (usual: string, other: string) => string
}

async function seedPeople(
  { each, words, rare }: Inserts,
  { many, few, count }: { many: string; few: string; count: number },
): Promise<void> {
  await each(
    'tenant_user',
    'id, email, email_key, name, auth_provider, active, suspended_until, created_at',
    `${idOf('n')}, n || '@many.example', n || '@many.example', 'Name ' || n, ${rare(`'local'`, `'saml'`)}, n > 5,
      ${rare('null', `'2099-01-01'::timestamptz`)}, ${momentOf('n')}`,
  )
  await words('user_word', 'user_id')
  await each('user_role', 'user_id, role_id', `${idOf('n')}, ${rare(`'user'`, `'auditor'`)}`)
  await each(
    'group_member',
    'group_id, user_id, membership_source',
    `${rare(`'${many}'::uuid`, `'${few}'`)}, ${idOf('n')}, 'local'`,
  )
  await each(
    'tenant_group',
    'id, name, source, created_at',
    `case n when 3 then '${few}'::uuid when ${count / 2} then '${many}' else ${idOf('n')} end, 'Team ' || n,
      ${rare(`'local'`, `'scim'`)}, ${momentOf('n')}`,
  )
  await words('group_word', 'group_id')
}
