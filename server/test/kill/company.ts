import { randomUUID } from 'node:crypto'
import { insertApiKey } from '../../src/api-keys/api-key-store.ts'
import { makeKeyText } from '../../src/api-keys/api-key-text.ts'
import type { Database } from '../../src/db/transaction.ts'
import { systemActor, type WorkCtx } from '../../src/kernel/context.ts'
import { newId } from '../../src/kernel/id.ts'
import { type SystemRoleId, systemRoles } from '../../src/roles/role.ts'
import { createTenant } from '../../src/tenants/create-tenant.flow.ts'
import { insertUser } from '../../src/users/user-store.ts'
import { type Client, clientAt } from '../support/client.ts'
import type { Exchange } from '../support/recorder.ts'
import type { Query } from './acknowledged.ts'
import type { FieldTarget } from './field-target.ts'
import { mailedEvents } from './mails.ts'

/** A tenant in the campaign: its requesters, its approvers, and direct database access for what would need time to pass. */
export type Company = {
  tenant_id: string
  owning: Client
  asking: readonly [Client, Client, Client]
  deciding: readonly [Client, Client]
  query: Query
  target: FieldTarget
}

/** Actions of the company's one policy, by the approval mode that their rule gives. */
export const actionsByMode = { require: 'ReadOnly', auto: 'Look', break_glass: 'Mend' } as const

export type CompanyOptions = {
  database: Database
  query: Query
  target: FieldTarget
  /** The current address of the service: it changes with each start. */
  base_url(): string
  /** Called with every answer. */
  record(exchange: Exchange): void
}

/** Creates one. Its users authenticate by keys: checking a password costs more than everything else that they do. */
export async function foundCompany({ database, query, target, base_url, record }: CompanyOptions): Promise<Company> {
  const owner = { email: 'owner@example.com', name: 'Owner', password: 'a long enough password' }
  const made = await createTenant(database, { name: 'Under fire', owner })
  const { tenant_id } = made
  const ctx: WorkCtx = { tx: database.tenant(tenant_id), actor: systemActor, request_id: 'test' }

  async function keyOf(user_id: string, role: SystemRoleId): Promise<Client> {
    const { id, text, secret_hash } = makeKeyText('api')
    const { scopes } = systemRoles[role]
    await insertApiKey(ctx, { id, name: 'a key', secret_hash, scopes, created_by: user_id, expires_at: null })
    const headers = { 'x-tenant-id': tenant_id, 'x-api-key': text }
    return async <Body>(...[method, path, body, more]: Parameters<Client>) => {
      const reply = await clientAt(base_url(), headers)<Body>(method, path, body, more)
      record({ method, path, status: reply.status, body: reply.body as Exchange['body'] })
      return reply
    }
  }

  async function join(role: 'user' | 'approver'): Promise<Client> {
    const id = newId()
    const email = `${role}-${randomUUID().slice(0, 8)}@example.com`
    const person = { id, email, name: role, roles: [role], auth_provider: 'local', is_owner: false } as const
    await target.welcome(email)
    await insertUser(ctx, { ...person, roles: [role], avatar_base64: null, password_hash: null })
    // A verified address gets the mails of notifications too.
    await query('update tenant_user set email_verified = true where tenant_id = $1 and id = $2', [tenant_id, id])
    return keyOf(id, role)
  }

  const owning = await keyOf(made.owner.id, 'admin')
  await writePolicy(owning, target)
  await setUp(owning, target)
  await openChannel(owning)
  return {
    tenant_id,
    owning,
    asking: [await join('user'), await join('user'), await join('user')],
    deciding: [await join('approver'), await join('approver')],
    query,
    target,
  }
}

async function writePolicy(owner: Client, target: FieldTarget): Promise<void> {
  const policy = await owner<{ id: string }>('POST', '/v1/policies', { name: 'Under fire' })
  for (const mode of Object.keys(actionsByMode) as (keyof typeof actionsByMode)[]) {
    // A set is requested as an action on each account.
    const sets = mode === 'auto' && target.setOnAccounts !== undefined ? [target.setOnAccounts] : []
    const action_ids = [...target.actionsOf(mode), ...sets]
    const rule = { effect: 'permit', action_scope_type: 'in', action_ids, approval_mode: mode }
    const made = await owner('POST', `/v1/policies/${policy.body.id}/rules`, rule)
    if (made.status !== 201) throw new Error(`the rule for ${mode} was refused: ${JSON.stringify(made.body)}`)
  }
}

/** Notifies a mailbox of the company's events. */
async function openChannel(owner: Client): Promise<void> {
  const channel = { name: 'Under fire', to_addresses: ['watch@example.com'], event_filters: mailedEvents }
  const made = await owner('POST', '/v1/notification-channels/email', channel)
  if (made.status !== 201) throw new Error(`the channel was refused: ${JSON.stringify(made.body)}`)
}

async function setUp(owner: Client, target: FieldTarget): Promise<void> {
  const furnished = await target.furnish()
  if (furnished === undefined) return
  const body = { name: 'Under fire', provisioner_type: target.type, ...furnished.body }
  const made = await owner<{ shown_once: Record<string, string> }>('POST', '/v1/provisioners', body)
  if (made.status !== 201) throw new Error(`the provisioner was refused: ${JSON.stringify(made.body)}`)
  furnished.adopt(made.body.shown_once)
}
