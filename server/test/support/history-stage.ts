import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeBackup, writeExport } from '../../src/backup/backup.ts'
import { restoreBackup } from '../../src/backup/restore.ts'
import { adoptInstallation } from '../../src/installation/installation-store.ts'
import { newId } from '../../src/kernel/id.ts'
import { findServer, type MadeDatabase, makeDatabase, type TestDatabase } from './database.ts'
import { type House, houseOn, type Person, type TestTenant } from './house.ts'
import type { RealTarget } from './real-targets.ts'
import { until } from './wait.ts'

/** One running service, and what a test does there. */
export type Site = Awaited<ReturnType<typeof openSite>>

/** A person of the tenant, whom the target knows. */
export type Requester = Person & { email: string }

/**
 * A service with a tenant that gives access at a real target, and copies of its database beside it, as operators make them. Call `end` after
 * the tests.
 */
export async function historyStage(target: RealTarget) {
  const { server, stop } = await findServer()
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-history-'))
  const databases: MadeDatabase[] = []
  const rootKey = randomBytes(32)
  const addDatabase = async (template?: string) => {
    const made = await makeDatabase(server, template)
    databases.push(made)
    return made
  }
  const db = await addDatabase()
  const tenant = await setUpTenant(await serviceOn(db, rootKey), target)
  const siteOn = async (database: MadeDatabase, options = {}) =>
    openSite(database, await serviceOn(database, rootKey, options), tenant, target)
  const original = await siteOn(db)
  return {
    target,
    tenant,
    original,
    folder,
    /** A service on an empty database into which a backup was restored. `before`: changes what it knows of itself. */
    async restored(
      file: string,
      before: (copy: TestDatabase) => Promise<unknown> = async () => undefined,
      options: { claimListenMs?: number } = {},
    ) {
      const into = await addDatabase()
      await restoreBackup(into, file)
      await before(into)
      return siteOn(into, options)
    },
    backUp: async (site: Site) => {
      const file = join(folder, `${newId()}.backup`)
      await writeBackup(site.db.service, file)
      return file
    },
    export: async (site: Site) => {
      const file = join(folder, `${newId()}.export`)
      await writeExport(site.db.service, tenant.tenant_id, file)
      return file
    },
    async end() {
      for (const database of databases) await database.close()
      await rm(folder, { recursive: true })
      await target.stop()
      await stop()
    },
  }
}

type InstallationRow = { id: string; epoch: string; system_identifier: string; database_oid: string; timeline: string }

const installationOf = async ({ asSuperuser }: TestDatabase) => {
  const [row] = await asSuperuser<InstallationRow>('select * from installation')
  if (row === undefined) throw new Error('there is no installation')
  return row
}

/** What a copy of the files of a database says of itself: the same as the original, in the same place. */
export const asSnapshotOf = (site: Site) => async (copy: TestDatabase) => {
  const { id, epoch, system_identifier, timeline } = await installationOf(site.db)
  await copy.asSuperuser(
    `update installation set id = $1, epoch = $2, system_identifier = $3, timeline = $4, read_only_since = null,
      read_only_reason = null, database_oid = (select oid::bigint from pg_database where datname = current_database())`,
    [id, epoch, system_identifier, timeline],
  )
}

/** What a copy of the database says of itself on the same server, under another name. */
export const asCopyOf = (site: Site) => async (copy: TestDatabase) => {
  await asSnapshotOf(site)(copy)
  const { database_oid } = await installationOf(site.db)
  await copy.asSuperuser('update installation set database_oid = $1', [database_oid])
}

/** What the database says of itself after a failover: another timeline in the same place. */
export const asPromoted = (site: Site) => async (copy: TestDatabase) => {
  await asSnapshotOf(site)(copy)
  await copy.asSuperuser(`update installation set timeline = 'FFFFFFFF'`)
}

const env = { EGRESS_ALLOW: '127.0.0.1,localhost' }

function serviceOn(db: TestDatabase, rootKey: Buffer, options: { claimListenMs?: number } = {}): Promise<House> {
  return houseOn(db, { env, rootKey, claimListenMs: 0, ...options })
}

async function setUpTenant(house: House, target: RealTarget): Promise<TestTenant & { provisioner_id: string }> {
  const tenant = await house.tenant('History')
  const { tenant_id, owner } = tenant
  const post = async (url: string, body: unknown) => {
    const reply = await house.call({ method: 'POST', url, api_key: owner.api_key, tenant_id, body })
    assert.equal(reply.status, 201, reply.text)
    return reply.body
  }
  const policy = await post('/v1/policies', { name: 'all' })
  await post(`/v1/policies/${policy.id}/rules`, {
    policy_text: '@approval_mode("auto") permit (principal, action, resource);',
  })
  const made = await post('/v1/provisioners', target.provisioner)
  target.onMade(made.shown_once as Record<string, string>)
  return { ...tenant, provisioner_id: String(made.id) }
}

async function openSite(
  db: MadeDatabase,
  house: House,
  { tenant_id, owner, provisioner_id }: TestTenant & { provisioner_id: string },
  target: RealTarget,
) {
  house.app.startWorkers()
  const call = async (method: string, url: string, body?: unknown, by: Person = owner) =>
    house.call({ method, url, api_key: by.api_key, tenant_id, ...(body !== undefined && { body }) })
  const get = async (url: string) => (await call('GET', url)).body
  const events = (type: string) =>
    db.asSuperuser<{ id: string; data: Record<string, unknown> }>(
      'select id, data from event where tenant_id = $1 and type = $2 order by seq',
      [tenant_id, type],
    )
  /** What waits for another attempt is tried now. */
  const retryNow = () =>
    db.asSuperuser('update entitlement set next_look_at = clock_timestamp() where failures > 0 and lease_until is null')
  const grantOf = async (request_id: string) => {
    const [grant] = (await get(`/v1/grants?request_id=${request_id}`)).data as Shown[]
    return grant
  }
  return {
    db,
    house,
    call,
    get,
    events,
    provisioner: () => get(`/v1/provisioners/${provisioner_id}`),
    grant: (id: string) => get(`/v1/grants/${id}`),
    /** A new user, whom the target knows. */
    async person(): Promise<Requester> {
      // Short enough to be whole in the name of a login that is made.
      const email = `p${randomBytes(5).toString('hex')}@example.com`
      const made = await call('POST', '/v1/users', {
        email,
        name: 'Ada',
        roles: ['user'],
        password: 'a long enough password',
      })
      assert.equal(made.status, 201, made.text)
      await target.admit(email)
      return { ...(await house.person(tenant_id, String(made.body.id))), email }
    },
    /** Requests the target's access. Returns the id of the request. */
    async ask(person: Requester, seconds = 3_600): Promise<string> {
      const body = { ...target.wanted, duration_seconds: seconds }
      // A restore brings back no session.
      const { token } = await house.signInAgain(tenant_id, person)
      const asked = await house.call({ method: 'POST', url: '/v1/requests', token, tenant_id, body })
      assert.equal(asked.status, 201, asked.text)
      return String(asked.body.id)
    },
    /** Waits until the access of a request is active. Returns the id of its grant. */
    active: async (request_id: string) =>
      (
        await until('the grant is active', async () => {
          const grant = await grantOf(request_id)
          assert.notEqual(grant?.status, 'failed', grant?.last_error ?? '')
          return grant?.status === 'active' && grant
        })
      ).id,
    revoke: async (grant_id: string) => {
      const reply = await call('POST', `/v1/grants/${grant_id}/revoke`, {})
      assert.equal(reply.status, 200, reply.text)
    },
    ...sweepingAt(db, tenant_id),
    /** Its operator says that it is the original. What waited for that is retried now. */
    async adopt() {
      await adoptInstallation(db.database.service)
      await retryNow()
    },
    retryNow,
  }
}

function sweepingAt(db: TestDatabase, tenant_id: string) {
  return {
    /** Has the target compared now, and waits until that was done, or was put off. */
    async sweep(): Promise<void> {
      const [now] = await db.asSuperuser<{ at: string }>(
        `update sweep set next_look_at = clock_timestamp() where tenant_id = $1 returning next_look_at::text as at`,
        [tenant_id],
      )
      assert.ok(now, 'there is something to sweep')
      await until('the sweep has ended', async () => {
        const ended = await db.asSuperuser(
          `select from sweep where tenant_id = $1 and lease_until is null and next_look_at is distinct from $2`,
          [tenant_id, now.at],
        )
        return ended.length > 0
      })
    },
    /** Makes the second look at what was lost due at once. */
    noSecondLook: () =>
      db.asSuperuser(
        `insert into setting (tenant_id, key, value) values ($1, 'orphans.second_look_seconds', '0')
          on conflict (tenant_id, key) do update set value = '0'`,
        [tenant_id],
      ),
  }
}

type Shown = { id: string; status: string; last_error: string | null }
