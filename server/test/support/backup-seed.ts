import { newId } from '../../src/kernel/id.ts'
import type { TestDatabase } from './database.ts'

/** Numbers, moments and text that a reader in between would bend. */
const trickyJson = `{"big":9007199254740993,"small":0.10000000000000000001,"text":"line\\nbreak \\" ☃ \\\\u2028","null":null}`

/** One tenant with a row in the tables that a tenant has, each by the superuser; answers the tenant. */
export async function seedTenant(
  db: Pick<TestDatabase, 'asSuperuser'>,
  name: string,
): Promise<{ tenant_id: string; request_id: string }> {
  const tenant_id = newId()
  const [anna, ben, policy, request_id, entitlement, event] = [newId(), newId(), newId(), newId(), newId(), newId()]
  const insert = (table: string, row: Record<string, unknown>) => {
    const all: Record<string, unknown> = table === 'tenant' ? row : { tenant_id, ...row }
    const columns = Object.keys(all)
    return db.asSuperuser(
      `insert into ${table} (${columns.join(', ')}) values (${columns.map((_, place) => `$${place + 1}`).join(', ')})`,
      Object.values(all),
    )
  }
  const user = (id: string, email: string) =>
    insert('tenant_user', { id, email, email_key: email, name: `${name} ☃ "\\'`, auth_provider: 'local' })
  await insert('tenant', { id: tenant_id, name, rule_set_version: '9007199254740993' })
  await insert('setting', { key: 'a', value: 'true', updated_at: '2026-01-02T03:04:05.678901Z' })
  await user(anna, 'anna@example.com')
  await user(ben, 'ben@example.com')
  await insert('user_password', { user_id: anna, hash: '$argon2id$v=19$…' })
  await insert('role', { id: 'admin', name: 'Admin', scopes: ['a:read', 'with "quotes", {braces}'], system: true })
  await insert('user_role', { user_id: anna, role_id: 'admin', granted_by: ben })
  const secret_hash = Buffer.from(Array.from({ length: 32 }, (_, byte) => byte * 8))
  await insert('api_key', {
    id: newId(),
    name: 'ci',
    secret_hash,
    scopes: [],
    created_by: anna,
    expires_at: 'infinity',
  })
  await insert('policy', { id: policy, name: 'p', priority: 1 })
  await insert('policy_rule', {
    ...{ id: newId(), policy_id: policy, ordinal: 1, effect: 'permit', principal_scope_type: 'any', saved_by: anna },
    ...{ action_scope_type: 'any', action_ids: ['x'], resource_scope_type: 'any', audit_session: false },
    policy_text: 'permit (principal, action, resource)\nwhen { "☃" == "\\u{2603}" };',
  })
  await insert('cloud_account', { id: '123', name: 'n', account_id: '123', metadata: trickyJson, rank: 1 })
  await insert('access_request', {
    ...{ id: request_id, requester_id: anna, resource_type: 'cloud_account', resource_id: '123', action: 'ReadOnly' },
    ...{ status: 'approved', decided_by: ben, approval_mode: 'require', break_glass: false, duration_seconds: 60 },
    ...{ metadata: trickyJson, audit_session: false, places: '[]', asked_via: 'token', source_ip: '127.0.0.1' },
    lease_until: '2100-01-01T00:00:00Z',
  })
  await insert('decision', {
    ...{ id: newId(), request_id, question_kind: 'ask', principal_id: anna, question: 'null', allowed: true },
    ...{ rule_set_version: '1', rule_ids: [newId()], errors: '[]' },
  })
  await insert('entitlement', {
    ...{ id: entitlement, provisioner: 'sandbox', target_key: 'k', target: '{}', held_before: false },
    ...{ next_look_at: '2020-01-01T00:00:00.000001Z', lease_until: '2100-01-01T00:00:00Z', generation: '7' },
  })
  await insert('access_grant', {
    ...{ id: newId(), request_id, user_id: anna, name: 'g', resource_type: 'cloud_account', resource_id: '123' },
    ...{ action: 'ReadOnly', duration_seconds: 60, status: 'pending', provisioning_status: 'not_attempted' },
    ...{ entitlement_id: entitlement, activate_by: '2026-01-01T00:00:00.123456Z' },
  })
  const told = { type: 'request.created', actor_kind: 'user', subject_type: 'request', request_id: 'r' }
  await insert('event', { id: event, ...told, subject_id: request_id, data: trickyJson })
  await insert('event_parked', { subscriber: 's', event_id: event, next_look_at: '2026-01-01Z', last_error: 'e' })
  await insert('notification', { id: newId(), user_id: anna, event_id: event, event_type: 't', title: 't', body: 'b' })
  await insert('sandbox_assignment', { key: 'k' })
  await insert('sandbox_operation', { id: newId(), key: 'k', kind: 'create', polls_left: 1, outcome: 'SUCCEEDED' })
  await insert('sandbox_weather', { polls: 2 })
  return { tenant_id, request_id }
}

/** The service's own rows. */
export async function seedService(db: Pick<TestDatabase, 'asSuperuser'>): Promise<void> {
  await db.asSuperuser(
    `insert into signing_key (kid, public_jwk, sealed_private_jwk) values ('k1', '{"kty":"OKP"}', 'sealed')`,
  )
}
