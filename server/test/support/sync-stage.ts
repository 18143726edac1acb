import assert from 'node:assert/strict'
import { driverTypes, endAccessAndInvitations } from '../../src/app.ts'
import type { SourceType } from '../../src/identity-providers/sources/source.ts'
import type { SourceTypes } from '../../src/identity-providers/sync/open-directory.flow.ts'
import { syncDirectory } from '../../src/identity-providers/sync/sync-directory.job.ts'
import { claimDue, type WorkItem } from '../../src/jobs/claim.ts'
import type { DueWork } from '../../src/jobs/work-list.ts'
import { systemActor, type Tx } from '../../src/kernel/context.ts'
import type { Drivers } from '../../src/provisioners/drivers.ts'
import type { DirectoryPage } from '../../src/provisioners/target-directory.ts'
import { openSealer } from '../../src/secrets/sealer.ts'
import { testDrivers } from './drivers.ts'
import type { House, Person, TestTenant } from './house.ts'
import { noEgress } from './no-egress.ts'

/** What a directory says. `meanwhile` runs before each page; it may throw. */
export type SaidByDirectory = { pages: DirectoryPage[]; meanwhile(page: number): Promise<void> }

/** A person of the directory, with an address of their own. */
export const member = (id: string, more: Record<string, unknown> = {}) => ({
  id,
  resource: {
    userName: `${id}@example.com`,
    displayName: `Person ${id}`,
    active: true,
    emails: [{ value: `${id}@example.com`, type: 'work', primary: true }],
    ...more,
  },
})

/** Runs a claimed run. `before` runs before each transaction by which a person or a group is written. */
function runnerOf(work: DueWork, tx: Tx) {
  return (item: WorkItem, before: () => Promise<void> = async () => undefined): Promise<void> => {
    const interactive: Tx['interactive'] = async (within) => {
      await before()
      return tx.interactive(within)
    }
    return work.run({ tx: { ...tx, interactive }, actor: systemActor, request_id: `sync_run:${item.id}` }, item)
  }
}

/** The users of a directory: name, and whether they are active. */
function usersOf({ asSuperuser }: House, id: string) {
  return asSuperuser<{ id: string; external_id: string; name: string; email: string; active: boolean }>(
    `select u.id, d.external_id, u.name, u.email, u.active from directory_user d
      join tenant_user u on u.tenant_id = d.tenant_id and u.id = d.user_id
      where d.identity_provider_id = $1 order by d.external_id`,
    [id],
  )
}

type StageOptions = { provider_type?: string; config?: Record<string, unknown>; drivers?: Drivers }

/** A protocol by which a directory says what the test makes it say. */
function saying(said: SaidByDirectory): SourceType {
  return {
    findFaults: async () => [],
    open: () =>
      async function* read() {
        for (const [index, page] of said.pages.entries()) {
          await said.meanwhile(index)
          yield page
        }
      },
  }
}

/** A directory of a tenant that is read, and says what the test makes it say. Each run is begun by the test. */
export async function syncStage(house: House, tenant: TestTenant, options: StageOptions = {}) {
  const { tenant_id, owner } = tenant
  const said: SaidByDirectory = { pages: [], meanwhile: async () => undefined }
  const { provider_type = 'directory_a' } = options
  const scim = { protocol: 'scim', base_url: 'https://directory.example/scim', token: 'of-the-directory' }
  const call = (method: string, url: string, body?: unknown, by: Pick<Person, 'api_key'> = owner) =>
    house.call({ method, url, api_key: by.api_key, tenant_id, ...(body !== undefined && { body }) })
  const made = await call('POST', '/v1/identity-providers', {
    name: 'Directory',
    provider_type,
    config: { ...(provider_type === 'directory_a' && scim), ...options.config },
  })
  assert.equal(made.status, 201, made.text)
  const id = String(made.body.id)
  const url = `/v1/identity-providers/${id}`
  const source = saying(said)
  const sources: SourceTypes = { scim: source, ldap: source }
  const work = syncDirectory({
    ...{ sealer: openSealer(house.rootKeys), egress: noEgress, sources, types: driverTypes },
    ...{ drivers: options.drivers ?? testDrivers(), endAccess: endAccessAndInvitations },
  })
  const tx = house.database.tenant(tenant_id)

  /** Claims the run that is due, as the loop does. */
  async function claim(): Promise<WorkItem> {
    // Before what other tests left due.
    await house.asSuperuser(
      `update sync_run set next_look_at = next_look_at - interval '1 day'
        where identity_provider_id = $1 and next_look_at <= clock_timestamp()`,
      [id],
    )
    const request = { table: 'sync_run', part: undefined, max: 1, maxPerTenant: 1, without: [] } as const
    const [claimed] = await claimDue(house.database, [request])
    const [item] = claimed?.items ?? []
    assert.ok(item, 'a run is due')
    return item
  }
  const run = runnerOf(work, tx)
  const get = async (run_id: string) => {
    const reply = await call('GET', `${url}/sync-runs/${run_id}`)
    assert.equal(reply.status, 200, reply.text)
    return reply.body as Record<string, unknown> & { counts: Record<string, number>; id: string; status: string }
  }

  /** Has the directory read, and returns the finished run. */
  async function sync(body: object = {}) {
    const asked = await call('POST', `${url}/sync`, body)
    assert.equal(asked.status, 202, asked.text)
    await run(await claim())
    return get(String(asked.body.id))
  }

  /** What a run did with people: id in the directory, change, and what became of it. */
  async function changes(run_id: string): Promise<[string, string, string][]> {
    const reply = await call('GET', `${url}/sync-runs/${run_id}/changes?limit=200&kind=user`)
    assert.equal(reply.status, 200, reply.text)
    const rows = reply.body.data as { source_id: string; change: string; outcome: string }[]
    return rows.map(({ source_id, change, outcome }) => [source_id, change, outcome])
  }

  const users = () => usersOf(house, id)
  const provider = async () => (await call('GET', url)).body

  return { ...tenant, house, tx, id, url, said, call, claim, run, get, sync, changes, users, provider }
}

export type SyncStage = Awaited<ReturnType<typeof syncStage>>
