import { readEgressAllow } from '../../src/egress/allow-list.ts'
import { openEgress } from '../../src/egress/egress.ts'
import { newId } from '../../src/kernel/id.ts'
import type { Opening, PlanInput } from '../../src/provisioners/driver.ts'
import { webhook } from '../../src/provisioners/webhook/webhook.ts'
import type { Break, Stage } from '../conformance/stage.ts'
import type { TestDatabase } from './database.ts'
import { unknownEmail } from './webhook-receiver.ts'

/** The access that a receiver holds, by the entitlement's name, read without the driver. */
export type Holdings = {
  names(): readonly string[]
  give(name: string): void
  take(name: string): void
}

export const gatewayKey = 'a-gateway-key-that-nobody-may-read'

/** A tenant with a webhook provisioner, and the opening of its driver. */
export async function webhookOpening(
  { database, asSuperuser }: TestDatabase,
  config: { url: string; signing_secret: string } & Record<string, unknown>,
): Promise<{ opening: Opening; tx: Stage['tx'] }> {
  const [tenant_id, provisioner_id] = [newId(), newId()]
  await asSuperuser(`insert into tenant (id, name) values ($1, 'webhook')`, [tenant_id])
  await asSuperuser(
    `insert into provisioner (tenant_id, id, name, provisioner_type) values ($1, $2, 'webhook', 'webhook')`,
    [tenant_id, provisioner_id],
  )
  const egress = openEgress(readEgressAllow('127.0.0.1'))
  const opening = { tenant_id, provisioner_id, config, previous: {}, egress, public_url: 'http://127.0.0.1' }
  return { opening, tx: database.tenant(tenant_id) }
}

/** A receiver prepared for the conformance suite. */
export async function webhookStage(
  db: TestDatabase,
  { url, signing_secret }: { url: string; signing_secret: string },
  holdings: Holdings,
  breaks: readonly Break[],
): Promise<Stage> {
  const config = { url, signing_secret, headers: { authorization: `Bearer ${gatewayKey}` }, calls_at_once: 4 }
  const { opening, tx } = await webhookOpening(db, config)
  const nameOf = ({ user, account_id, resource, permission_set, action }: PlanInput) =>
    JSON.stringify([user.id, account_id, resource.type, resource.id, permission_set, action])
  return {
    type: webhook,
    opening,
    tx,
    makeInput: () => Promise.resolve(newInput()),
    others: (input) => [
      { ...input, action: 'admin' },
      { ...input, account_id: 'b' },
      { ...input, permission_set: 'Set' },
      { ...input, resource: { ...input.resource, id: 'another' } },
      { ...input, resource: { ...input.resource, type: 'cloud_storage_bucket' } },
    ],
    unknown: { ...newInput(), user: { id: newId(), email: unknownEmail, name: 'Nobody', external_id: null } },
    target: {
      sees: () => Promise.resolve([...holdings.names()].sort()),
      holds: (input) => Promise.resolve(holdings.names().includes(nameOf(input))),
      give: (input) => Promise.resolve(holdings.give(nameOf(input))),
      take: (input) => Promise.resolve(holdings.take(nameOf(input))),
    },
    endsByItself: true,
    breaks,
    secrets: [signing_secret, signing_secret.slice(6), gatewayKey],
    faulty: [
      { config: { signing_secret }, pointer: '/config/url' },
      { config: { ...config, url: 'http://example.com' }, pointer: '/config/url' },
      { config: { ...config, url: 'https://169.254.169.254/' }, pointer: '/config/url' },
      { config: { ...config, url: 'https://93.184.216.34/?key=x' }, pointer: '/config/url' },
      { config: { ...config, headers: { host: 'elsewhere' } }, pointer: '/config/headers' },
      { config: { ...config, headers: { 'webhook-signature': 'x' } }, pointer: '/config/headers' },
      { config: { ...config, headers: { a: 'b\r\nc: d' } }, pointer: '/config/headers' },
      { config: { ...config, calls_at_once: 1 }, pointer: '/config/calls_at_once' },
      { config: { ...config, verifies: 'no' }, pointer: '/config/verifies' },
      { config: { ...config, signing_secret: 'whsec_short' }, pointer: '/config/signing_secret' },
    ],
  }
}

function newInput(): PlanInput {
  const id = newId()
  return {
    grant_id: newId(),
    first_grant_id: newId(),
    user: { id, email: `${id}@example.com`, name: 'Ada', external_id: null },
    resource: { type: 'cloud_account', id: 'a' },
    account_id: 'a',
    permission_set: null,
    action: 'read',
    duration_seconds: 3_600,
    audit_session: false,
  }
}
