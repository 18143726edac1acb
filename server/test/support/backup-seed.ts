import { newId } from '../../src/kernel/id.ts'
import { seedDirectory } from './backup-directory-seed.ts'
import type { TestDatabase } from './database.ts'

/** Numbers, moments and text that an intermediate parser would change. */
const trickyJson = `{"big":9007199254740993,"small":0.10000000000000000001,"text":"line\\nbreak \\" ☃ \\\\u2028","null":null}`

type Db = Pick<TestDatabase, 'asSuperuser'>
export type Insert = (table: string, row: Record<string, unknown>) => Promise<void>

/**
 * Inserts one tenant with a row in every tenant table, as the superuser; returns the tenant. It skips tables and columns that
 * only an earlier or a later version has.
 */
export async function seedTenant(db: Db, name: string): Promise<{ tenant_id: string; request_id: string }> {
  const tenant_id = newId()
  const insert = await insertInto(db, tenant_id)
  await seedRootKey(db)
  await insert('tenant', { id: tenant_id, name, rule_set_version: '9007199254740993' })
  await insert('setting', { key: 'a', value: 'true', updated_at: '2026-01-02T03:04:05.678901Z' })
  const people = await seedPeople(insert, name)
  await seedProviders(insert)
  await seedDirectory(insert, people, trickyJson)
  await seedClaims(insert, people)
  return { tenant_id, request_id: await seedAccess(insert, people) }
}

async function insertInto(db: Db, tenant_id: string): Promise<Insert> {
  const tables = await db.asSuperuser<{ name: string; columns: string[] }>(
    `select relname::text as name, array_agg(attname::text) as columns from pg_class c
      join pg_attribute a on a.attrelid = c.oid
      where relnamespace = 'public'::regnamespace and attnum > 0 and not attisdropped group by relname`,
  )
  const columnsOf = new Map(tables.map(({ name, columns }) => [name, columns]))
  return async (table, row) => {
    const here = columnsOf.get(table)
    if (here === undefined) return
    const all: Record<string, unknown> = table === 'tenant' ? row : { tenant_id, ...row }
    const columns = Object.keys(all).filter((column) => here.includes(column))
    await db.asSuperuser(
      `insert into ${table} (${columns.join(', ')}) values (${columns.map((_, place) => `$${place + 1}`).join(', ')})`,
      columns.map((column) => all[column]),
    )
  }
}

export type People = { anna: string; ben: string }

async function seedPeople(insert: Insert, name: string): Promise<People> {
  const [anna, ben, group] = [newId(), newId(), newId()]
  const user = (id: string, email: string, facts = {}) =>
    insert('tenant_user', { id, email, email_key: email, name: `${name} ☃ "\\'`, auth_provider: 'local', ...facts })
  await user(ben, 'ben@example.com')
  // Her id is the smaller one: in a backup, she comes before her manager.
  await user(anna, 'anna@example.com', { department: 'Finance', manager_id: ben, facts_set_by: ben })
  await insert('user_fact_version', { user_id: anna, fact: 'manager', number: 0, set_at: '-infinity' })
  await insert('sign_in_failure', { account_hash: Buffer.alloc(32, 7), failures: 3 })
  await seedSession(insert, anna)
  await insert('user_password', { user_id: anna, hash: '$argon2id$v=19$…' })
  await insert('role', { id: 'admin', name: 'Admin', scopes: ['a:read', 'with "quotes", {braces}'], system: true })
  await insert('user_role', { user_id: anna, role_id: 'admin', granted_by: ben })
  await insert('role_added_scope', { role_id: 'admin', scope: 'a:read', added_by: anna })
  await insert('tenant_group', { id: group, name: 'g', source: 'local', members_notified: false })
  await insert('group_member', { group_id: group, user_id: anna, membership_source: 'local', added_by: ben })
  await insert('group_role', { group_id: group, role_id: 'admin', mapped_by: ben })
  await insert('favourite', {
    id: newId(),
    user_id: anna,
    resource_type: 'cloud_account',
    resource_id: '1',
    action: 'a',
  })
  const given_at = '2026-01-02T03:04:05.678901Z'
  await insert('past_gift', { id: newId(), user_id: anna, role_id: 'gone', given_by: ben, given_at })
  const secret_hash = Buffer.from(Array.from({ length: 32 }, (_, byte) => byte * 8))
  await insert('api_key', {
    id: newId(),
    name: 'ci',
    secret_hash,
    scopes: [],
    created_by: anna,
    expires_at: 'infinity',
  })
  return { anna, ben }
}

async function seedSession(insert: Insert, user_id: string): Promise<void> {
  const [cookie_hash, provider_sub_hash, provider_sid_hash] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte))
  await insert('second_factor', {
    ...{ id: newId(), user_id, kind: 'totp', name: 'phone', confirmed_at: '2026-01-02T03:04:05.678901Z' },
    ...{ sealed_secrets: 'sealed', last_step: '58933333' },
  })
  await insert('recovery_code', { user_id, hash: Buffer.alloc(32, 7) })
  await insert('sign_in_challenge', { id: newId(), user_id, secret_hash: Buffer.alloc(32, 7) })
  await insert('setup_link', { user_id, secret_hash: Buffer.alloc(32, 7) })
  const invitation_id = newId()
  const hashes = { secret_hash: Buffer.alloc(32, 7), mail_secret_hash: Buffer.alloc(32, 8) }
  await insert('invitation', { id: invitation_id, user_id, ...hashes, vouched_scopes: ['a:read'], created_by: user_id })
  await insert('invitation_mail', {
    ...{ id: invitation_id, email_key: 'anna@example.com', state: 'pending', sealed_secrets: 'sealed' },
    next_look_at: '2026-01-01T00:00:00.000001Z',
  })
  await insert('user_session', {
    ...{ id: newId(), user_id, amr: ['pwd', 'otp'], auth_time: '2026-01-02T03:04:05.678901Z', source_ip: '127.0.0.1' },
    ...{ provider: 'global', provider_sub_hash, provider_sid_hash, user_agent: 'a browser ☃', cookie_hash },
    ...{ idle_seconds: 14_400, ends_at: '2100-01-02Z', live_until: '2100-01-01Z' },
  })
}

const root_key_id = '0123456789abcdef'

/** The root key of the tenants' data keys, if the database has root keys. */
async function seedRootKey(db: Db): Promise<void> {
  const [there] = await db.asSuperuser(`select where to_regclass('public.root_key') is not null`)
  if (there === undefined) return
  await db.asSuperuser('insert into root_key (id) values ($1) on conflict (id) do nothing', [root_key_id])
}

/** A provider whose claim made Anna a member of a group. */
async function seedClaims(insert: Insert, { anna, ben }: People): Promise<void> {
  const [provider, group_id, mapping_id] = [newId(), newId(), newId()]
  const issuer = { issuer: 'https://id.example.com', client_id: 'sallyport', groups_claim: 'groups' }
  const setting = { id: provider, ...issuer, enabled: false, redirect_uris: ['https://a.example'], scopes: [] }
  await insert('sign_in_setting', setting)
  const source = 'identity_provider'
  await insert('tenant_group', { id: group_id, name: 'c', source, sign_in_provider_id: provider })
  await insert('group_mapping', { id: mapping_id, value: '☃ "', group_id, mapped_by: ben, vouched_scopes: ['a:read'] })
  const given = { given_at: '2026-01-02T03:04:05.678901Z', expires_at: '2100-01-01Z', mapping_id, added_by: ben }
  await insert('group_member', { group_id, user_id: anna, membership_source: source, ...given })
  await insert('claimed_groups', { id: anna, next_look_at: '2100-01-01Z', generation: '7' })
}

async function seedProviders(insert: Insert): Promise<void> {
  await insert('tenant_key', { version: 1, root_key_id, wrapped_key: 'wrapped' })
  await insert('ai_provider', { type: 'provider_a', config: trickyJson, sealed_secrets: 'sealed' })
  await insert('ai_provider_default', { type: 'provider_a' })
  await insert('tenant_mail_domain', { domain: 'mail.example.com' })
  await insert('identity_provider', { id: newId(), name: 'p', provider_type: 'custom_scim', config: trickyJson })
  const provisioner_id = newId()
  await insert('provisioner', {
    ...{ id: provisioner_id, name: 'p', provisioner_type: 'webhook', config: trickyJson, sealed_secrets: 'sealed' },
    ...{ version: 3, checked_at: '2026-01-02T03:04:05.678901Z', checks: '[]', previous_until: '2100-01-01Z' },
  })
  await insert('served_resource', { resource_type: 'cloud_account', account_id: '123456789012', provisioner_id })
  await insert('served_id', { resource_type: 'cloud_storage_bucket', id_pattern: '50%_\\*-logs', provisioner_id })
  await insert('target_claim', { provisioner_id, token: newId(), epoch: '7', beat_at: '2026-01-02T03:04:05.678901Z' })
  await insert('orphan', {
    ...{ id: newId(), provisioner_id, target_key: '"☃"', target: trickyJson, origin: 'ours', epoch: '7' },
    ...{ first_seen_at: '2026-01-02T03:04:05.678901Z', listed_at: '2026-01-02T03:04:05.678901Z' },
  })
  await seedInventory(insert, provisioner_id)
  const act = {
    target_key: 'k',
    kind: 'grant',
    until: '2100-01-01Z',
    reference: 'r',
    outcome: 'failed',
    message: 'm',
    connect: trickyJson,
  }
  await insert('webhook_act', { id: newId(), provisioner_id, ...act })
  await insert('notification_channel', {
    ...{ id: newId(), name: 'w', channel_type: 'webhook', config: '{"url":"https://hooks.example.com"}' },
    ...{ sealed_secrets: 'sealed', previous_until: '2100-01-01Z' },
  })
  const issuer = { issuer: 'https://id.example.com', client_id: 'sallyport' }
  await insert('sign_in_state', { id: newId(), ...issuer, redirect_uri: 'r', nonce: 'n', code_verifier: 'v' })
  await insert('kept_answer', { id: Buffer.alloc(32, 7), sealed_answer: 'sealed', expires_at: '2100-01-01Z' })
}

/** What a target said of itself. */
async function seedInventory(insert: Insert, provisioner_id: string): Promise<void> {
  const [of, run] = [{ provisioner_id }, { run: '7' }]
  await insert('cloud_account', {
    ...{ id: '123456789012', name: 'n', account_id: '123456789012', metadata: trickyJson, rank: 0 },
    discovered_by: provisioner_id,
  })
  await insert('inventory_part', {
    ...{ ...of, id: newId(), part: 'people', failures: 1, last_error: 'e', counts: '{"people": 1}' },
    ...{ finished_at: '2026-01-02T03:04:05.678901Z', next_look_at: '2100-01-01Z', generation: '7' },
  })
  const database = { resource_type: 'cloud_db_instance', id: 'arn:aws:rds:x', name: 'n', description: '☃ "' }
  await insert('inventory_resource', { ...of, ...run, ...database, tags: trickyJson, facts: trickyJson })
  await insert('inventory_person', { ...of, ...run, id: 'p', name: 'Ada', login: 'ADA', login_key: 'ada' })
  await insert('inventory_group', { ...of, ...run, id: 'g', name: 'Engineers', known: true })
  await insert('inventory_group_member', { ...of, ...run, group_id: 'g', person_id: 'p' })
  const assignment = { account_id: '123', permission_set_id: 's', principal_type: 'group', principal_id: 'g' }
  await insert('standing_access', { ...of, ...run, ...assignment, entitlement_key: '["☃"]' })
}

/** Returns the request's id. */
async function seedAccess(insert: Insert, { anna, ben }: People): Promise<string> {
  const [policy, request_id, entitlement, event] = [newId(), newId(), newId(), newId()]
  await insert('policy', { id: policy, name: 'p', priority: 1 })
  await insert('policy_rule', {
    ...{ id: newId(), policy_id: policy, ordinal: 1, effect: 'permit', principal_scope_type: 'any', saved_by: anna },
    ...{ action_scope_type: 'any', action_ids: ['x'], resource_scope_type: 'any', audit_session: false },
    policy_text: 'permit (principal, action, resource)\nwhen { "☃" == "\\u{2603}" };',
  })
  await insert('policy_case', { ordinal: 1, body: '{"case":"☃ \\"quoted\\"","required":true,"expect":"permit"}' })
  await insert('policy_replay', {
    ...{ id: newId(), created_by: anna, status: 'done', draft: trickyJson, days: 30, attempts: 1, asked: 2, total: 2 },
    ...{ result: trickyJson, started_at: '2026-01-02T03:04:05.678901Z', finished_at: '2026-01-02T03:04:06.000001Z' },
  })
  await insert('action_description', { action: 'ReadOnly', description: 'Sees ☃ "everything", \\ changes nothing' })
  await insert('cloud_account', { id: '123', name: 'n', account_id: '123', metadata: trickyJson, rank: 1 })
  await insert('access_request', {
    ...{ id: request_id, requester_id: anna, resource_type: 'cloud_account', resource_id: '123', action: 'ReadOnly' },
    ...{ status: 'approved', decided_by: ben, approval_mode: 'require', break_glass: false, duration_seconds: 60 },
    ...{ metadata: trickyJson, audit_session: false, places: '[]', asked_via: 'token', source_ip: '127.0.0.1' },
    ...{ lease_until: '2100-01-01T00:00:00Z', reminded_at: '2026-01-02T03:04:05.678901Z' },
  })
  await insert('reminder', { id: request_id, sent: 3, next_look_at: '2026-01-01T00:00:00.000001Z', generation: '7' })
  await insert('request_comment', { id: newId(), request_id, nth: 1, author_id: ben, text: 'why?\n☃ "\\u0000"' })
  await insert('decision', {
    ...{ id: newId(), request_id, question_kind: 'ask', principal_id: anna, question: 'null', allowed: true },
    ...{ rule_set_version: '1', rule_ids: [newId()], errors: '[]' },
  })
  await insert('entitlement', {
    ...{ id: entitlement, provisioner: 'sandbox', target_key: 'k', target: '{}', held_before: false },
    connect: trickyJson,
    ...{ next_look_at: '2020-01-01T00:00:00.000001Z', lease_until: '2100-01-01T00:00:00Z', generation: '7' },
  })
  await insert('access_grant', {
    ...{ id: newId(), request_id, user_id: anna, name: 'g', resource_type: 'cloud_account', resource_id: '123' },
    ...{ action: 'ReadOnly', duration_seconds: 60, status: 'pending', provisioning_status: 'not_attempted' },
    ...{ entitlement_id: entitlement, activate_by: '2026-01-01T00:00:00.123456Z' },
  })
  const eventFields = { type: 'request.created', actor_kind: 'user', subject_type: 'request', request_id: 'r' }
  await insert('event', { id: event, ...eventFields, subject_id: request_id, data: trickyJson })
  const places = { xid: '0', seq: '0', until_xid: '0', until_seq: '0' }
  await insert('event_queue', { id: newId(), subscriber: 's', ...places, next_look_at: '2026-01-01Z' })
  await insert('event_parked', { subscriber: 's', event_id: event, next_look_at: '2026-01-01Z', last_error: 'e' })
  await seedMessages(insert, anna, event)
  await insert('sweep', { id: newId(), provisioner: 'sandbox', next_look_at: '2026-01-01Z', generation: '7' })
  await insert('sandbox_assignment', { key: 'k' })
  await insert('sandbox_operation', { id: newId(), key: 'k', kind: 'create', polls_left: 1, outcome: 'SUCCEEDED' })
  // Until migration 0033.
  await insert('sandbox_weather', { polls: 2 })
  return request_id
}

/** The service's own rows, which belong to no tenant. */
export async function seedService(db: Pick<TestDatabase, 'asSuperuser'>): Promise<void> {
  await db.asSuperuser(
    `insert into signing_key (kid, public_jwk, sealed_private_jwk) values ('k1', '{"kty":"OKP"}', 'sealed')`,
  )
  await seedRootKey(db)
  await db.asSuperuser(
    `insert into discovery_key (sealed_key, root_key_id, ids_from, ids_until)
      values ('sealed', $1, '2025-01-01Z', '2026-01-01Z')`,
    [root_key_id],
  )
  await db.asSuperuser('insert into unknown_sign_in_failure (account_hash) values ($1)', [Buffer.alloc(32, 7)])
  await db.asSuperuser(`insert into logout_token (id, expires_at) values ($1, '2100-01-01Z')`, [Buffer.alloc(32, 7)])
}

/** What is sent about an event. */
async function seedMessages(insert: Insert, user_id: string, event_id: string): Promise<void> {
  const channel_id = newId()
  const config = '{"to_addresses":["a@example.com"]}'
  await insert('notification_channel', { id: channel_id, name: 'c', channel_type: 'email', config })
  const queue = {
    id: newId(),
    channel_id,
    channel_type: 'email',
    recipient: 'a@example.com',
    next_look_at: '2026-01-01Z',
  }
  await insert('delivery_lane', { ...queue, generation: '7', failures: 1 })
  await insert('delivery', {
    id: newId(),
    lane_id: queue.id,
    channel_id,
    event_id,
    seq: '1',
    give_up_at: '2100-01-01Z',
  })
  const notification_id = newId()
  const texts = { event_type: 't', title: 't', body: 'b' }
  await insert('notification', { id: notification_id, user_id, event_id, ...texts })
  await insert('notification_mail', { id: notification_id, user_id, kind: 'comment', urgent: false })
  await insert('notification_mail_queue', { next_look_at: '2026-01-01Z' })
}
