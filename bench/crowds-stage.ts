import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeKeyText } from '../server/src/api-keys/api-key-text.ts'
import { connectAlone } from '../server/src/db/client/connect.ts'
import { seedManyApprovers } from '../server/test/support/many-approvers.ts'
import { until } from '../server/test/support/wait.ts'
import { addEvents, type ManyEvents } from './crowds-events.ts'
import type { CrowdsTenant, Running } from './crowds-tenant.ts'
import { embeddedTarget } from './embedded.ts'
import type { Database } from './ends.ts'
import { insertKeys, openHouses } from './houses.ts'
import { callOnce } from './keyed-call.ts'
import { connectionClosed } from './lane.ts'
import { addRule } from './lives-stage.ts'
import { gather, type People, startService } from './sallyport.ts'

export type CrowdsSize = { events: number; rules: number; waiting: number; recipients: number }

/** The tenants of a service: the one that is measured, and one for each crowd. */
export type CrowdsTenants = Record<'quiet' | 'events' | 'rules' | 'target' | 'mails', CrowdsTenant>

/** A data folder with these tenants. The service does not run, except while `during` does. */
export type CrowdsHouse = {
  tenants: CrowdsTenants
  events: ManyEvents
  during<Result>(work: (running: Running) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

const peoplePerTenant = 10

/** Addresses on this machine of a mail server and of a target, for a service that is set up as one with both is. */
export type Peers = { smtp_url: string; target_url: string }

export async function openCrowdsHouse(size: CrowdsSize, { smtp_url, target_url }: Peers): Promise<CrowdsHouse> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  const close = () => rm(folder, { recursive: true, force: true })
  const env = {
    ...{ DATA_DIR: folder, LOG_LEVEL: 'warn', PUBLIC_URL: 'http://127.0.0.1', EGRESS_ALLOW: '127.0.0.1' },
    ...{ SMTP_URL: smtp_url, SMTP_TLS: 'never', SMTP_CONNECTIONS: '20', SMTP_MESSAGES_PER_SECOND: '0' },
  }
  const during: CrowdsHouse['during'] = async (work) => {
    const service = await startService(env)
    try {
      const target = await embeddedTarget(folder)
      const database = await connectAlone(target)
      return await work({ port: service.port, target, database }).finally(() => database.end())
    } finally {
      await service.stop()
    }
  }
  try {
    const people = await during(async ({ port }) => {
      const gathered = await gather(`http://127.0.0.1:${port}`, folder)
      await addRule(`http://127.0.0.1:${port}`, gathered)
      return gathered
    })
    return await during(async (running) => {
      const tenants = await openTenants(running.database, people)
      await setUpTarget(running, tenants.target, target_url)
      await addRecipients(running.database, tenants.mails, size.recipients)
      // Its other policies have rules too, and the number is the maximum of a tenant.
      await running.database.query('delete from policy_rule where tenant_id = $1', [tenants.rules.tenant_id])
      await importAtFirst(running, tenants.rules, size.rules)
      const events = await addEvents(running, tenants.events, size.events)
      await running.database.query('vacuum analyze')
      return { tenants, events, during, close }
    })
  } catch (error) {
    await close()
    throw error
  }
}

/** Five copies of the tenant that `gather` set up, of which it is the first. */
async function openTenants(database: Database, people: People): Promise<CrowdsTenants> {
  const askers = await openHouses(database, people, { tenants: 5, people: 5 * peoplePerTenant })
  const tenant_ids = [...new Set(askers.map(({ tenant_id }) => tenant_id))]
  const owners = tenant_ids.map((tenant_id) => ({ tenant_id, user_id: people.owner.id, ...makeKeyText('api') }))
  const scopes = ['policies:read', 'policies:write', 'provisioners:write', 'notification_channels:write']
  await insertKeys(database, owners, scopes)
  const { rows } = await database.query<{ id: string }>('select distinct id::text from policy')
  const tenantAt = (place: number): CrowdsTenant => {
    const { tenant_id = '', text = '' } = owners[place] ?? {}
    const own = askers.filter((asker) => asker.tenant_id === tenant_id)
    return { tenant_id, askers: own, owner: { tenant_id, key: text }, policy_id: rows[0]?.id ?? '' }
  }
  return { quiet: tenantAt(0), events: tenantAt(1), rules: tenantAt(2), target: tenantAt(3), mails: tenantAt(4) }
}

async function setUpTarget({ port }: Running, { owner }: CrowdsTenant, url: string): Promise<void> {
  await callOnce(port, owner, 'POST', '/v1/provisioners', {
    ...{ name: 'Bench', provisioner_type: 'webhook', serves: [{ resource_type: 'cloud_account' }] },
    config: { url, calls_at_once: 100 },
  })
}

/** People who may decide each request that a person has to decide, and whose addresses are verified. */
async function addRecipients(database: Database, { tenant_id }: CrowdsTenant, count: number): Promise<void> {
  await seedManyApprovers((text, values) => database.query(text, values), tenant_id, count)
  await database.query(
    `update tenant_user set email_verified = true where tenant_id = $1 and email like '%@many.example'`,
    [tenant_id],
  )
}

/** Replaces all rules of the tenant by as many others; `edition`: a number, by which they differ from those of another edition. */
export async function importRules(
  { port }: Pick<Running, 'port'>,
  { owner, policy_id }: CrowdsTenant,
  count: number,
  edition: number,
): Promise<void> {
  const rules = Array.from({ length: count }, (_, number) => {
    const account = String(edition * 1_000_000 + number).padStart(12, '0')
    return `@ordinal("${number}") permit (principal, action == Action::"ReadOnlyAccess", resource == cloud_account::"${account}");`
  })
  await callOnce(port, owner, 'PUT', `/v1/policies/${policy_id}/cedar`, { cedar: rules.join('\n') })
}

/** The service closes a connection that is silent for 20 s, and the import goes on: on a busy machine it may take longer. */
async function importAtFirst(running: Running, tenant: CrowdsTenant, count: number): Promise<void> {
  const fault = await importRules(running, tenant, count, 0).catch((error: Error) => error)
  if (fault !== undefined && fault.message !== connectionClosed) throw fault
  await until('the rules are imported', async () => {
    const { rows } = await running.database.query<{ count: number }>(
      'select count(*)::int from policy_rule where tenant_id = $1',
      [tenant.tenant_id],
    )
    return rows[0]?.count === count
  })
}
