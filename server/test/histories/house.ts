import { randomUUID } from 'node:crypto'
import { insertApiKey } from '../../src/api-keys/api-key-store.ts'
import { makeKeyText } from '../../src/api-keys/api-key-text.ts'
import type { Database } from '../../src/db/transaction.ts'
import { systemActor, type WorkCtx } from '../../src/kernel/context.ts'
import { newId } from '../../src/kernel/id.ts'
import { type SystemRoleId, systemRoles } from '../../src/roles/role.ts'
import { createTenant } from '../../src/tenants/create-tenant.flow.ts'
import { insertUser } from '../../src/users/user-store.ts'
import { actionsByMode } from '../kill/company.ts'
import { clientAt } from '../support/client.ts'
import type { Person } from './recorder.ts'

/** The callers of one history: two who request and hold access, two who decide, and the owner, who may see and end everything. */
export type Cast = { holders: readonly [Person, Person]; deciders: readonly [Person, Person]; owner: Person }

/** A tenant in which histories play. */
export type House = {
  tenant_id: string
  /** New holders for each history: what they list is of that history alone. */
  cast(): Promise<Cast>
}

/** Founds one. Its users authenticate by keys, which cost less than passwords. */
export async function foundHouse(database: Database, base_url: string): Promise<House> {
  const owner = { email: 'owner@example.com', name: 'Owner', password: 'a long enough password' }
  const made = await createTenant(database, { name: 'Histories', owner })
  const { tenant_id } = made
  const ctx: WorkCtx = { tx: database.tenant(tenant_id), actor: systemActor, request_id: 'test' }

  async function withKey(id: string, name: string, role: SystemRoleId): Promise<Person> {
    const key = makeKeyText('api')
    const { scopes } = systemRoles[role]
    const row = { id: key.id, name: 'a key', secret_hash: key.secret_hash, scopes, created_by: id, expires_at: null }
    await insertApiKey(ctx, row)
    return { id, name, headers: { 'x-tenant-id': tenant_id, 'x-api-key': key.text } }
  }

  async function join(name: string, role: 'user' | 'approver'): Promise<Person> {
    const id = newId()
    const email = `${name.toLowerCase()}-${randomUUID().slice(0, 8)}@example.com`
    const person = { id, email, name, roles: [role], auth_provider: 'local', is_owner: false } as const
    await insertUser(ctx, { ...person, roles: [role], avatar_base64: null, password_hash: null })
    return withKey(id, name, role)
  }

  const owning = await withKey(made.owner.id, 'Owner', 'admin')
  await writeRules(base_url, owning)
  const deciders = [await join('Ben', 'approver'), await join('Dee', 'approver')] as const
  return {
    tenant_id,
    cast: async () => ({ holders: [await join('Ada', 'user'), await join('Cyd', 'user')], deciders, owner: owning }),
  }
}

async function writeRules(base_url: string, owner: Person): Promise<void> {
  const call = clientAt(base_url, owner.headers)
  const policy = await call<{ id: string }>('POST', '/v1/policies', { name: 'Histories' })
  for (const mode of ['require', 'auto'] as const) {
    const rule = { effect: 'permit', action_scope_type: 'in', action_ids: [actionsByMode[mode]], approval_mode: mode }
    const made = await call('POST', `/v1/policies/${policy.body.id}/rules`, rule)
    if (made.status !== 201) throw new Error(`the rule for ${mode} was refused: ${JSON.stringify(made.body)}`)
  }
}
