import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectAlone } from '../../src/db/client/connect.ts'
import { migrate } from '../../src/db/migrate.ts'
import { appRole, ensureDatabase, ownerRole, setUpRoles } from '../../src/db/roles.ts'
import { openDatabase } from '../../src/db/transaction.ts'
import type { ProvisionerType } from '../../src/provisioners/provisioner.ts'
import type { Query } from '../kill/acknowledged.ts'
import { type Company, foundCompany } from '../kill/company.ts'
import { type FieldTarget, openFieldTarget } from '../kill/field-target.ts'
import { openMails } from '../kill/mails.ts'
import { keepComplaints } from '../kill/under-fire.ts'
import { startMailPeer } from '../support/mail-peer.ts'
import type { Exchange } from '../support/recorder.ts'
import { type Sallyport, startUnattended, urlOf } from '../support/sallyport.ts'
import { asRole, type TestServer } from '../support/server.ts'
import { openQuery } from './query.ts'

/** An answer, and when it came. */
export type Answer = Exchange & { at: number }

/** Two services on one database. */
export type FailoverField = {
  query: Query
  /** The targets themselves. */
  targets: readonly FieldTarget[]
  /** A new company for each target. People get a limited number of mails in an hour, so none lasts. */
  foundCompanies(): Promise<readonly Company[]>
  services: readonly Sallyport[]
  mails: ReturnType<typeof openMails>
  /** Every answer since the start. */
  answers: readonly Answer[]
  /** The errors that the services logged, each with its count: complete after `close`. */
  complaints: ReadonlyMap<string, number>
  close(): Promise<void>
}

const name = 'sallyport'

/** `server`: HAProxy, with the superuser's credentials. The roles have the timeouts that every installation has. */
export async function openFailoverField(server: TestServer, types: readonly ProvisionerType[]): Promise<FailoverField> {
  await makeDatabase(server)
  const stops: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  }
  try {
    const { query, close: closeQuery } = openQuery({ ...server, database: name })
    stops.push(closeQuery)
    const mail = await startMailPeer()
    stops.push(mail.stop)
    const targets = await Promise.all(types.map((type) => openFieldTarget(type, query)))
    stops.push(...targets.map((target) => target.close))
    const env = {
      DATABASE_URL: urlOf(asRole(server, appRole, 'app', name)),
      SECRET_KEY: randomBytes(32).toString('base64'),
      PUBLIC_URL: 'http://sallyport.example',
      ...{ SMTP_URL: mail.url, SMTP_TLS: 'never', SMTP_MESSAGES_PER_SECOND: '0' },
      ...Object.assign({}, ...targets.map((target) => target.env)),
    }
    const complaints = new Map<string, number>()
    const services: Sallyport[] = []
    for (let count = 0; count < 2; count += 1) {
      const data_dir = await mkdtemp(join(tmpdir(), 'sallyport-failover-'))
      stops.push(() => rm(data_dir, { recursive: true, force: true }))
      const service = await startUnattended(data_dir, env, 'start')
      services.push(service)
      stops.push(async () => {
        await service.stop()
        keepComplaints(service.output(), complaints)
      })
    }
    const answers: Answer[] = []
    let calls = 0
    const base_url = () => {
      calls += 1
      return services[calls % services.length]?.base_url ?? ''
    }
    const record = (exchange: Exchange) => void answers.push({ ...exchange, at: Date.now() })
    const foundCompanies = async () => {
      const database = openDatabase(asRole(server, appRole, 'app', name), { writes: 2, long: 1 })
      const companies: Company[] = []
      for (const target of targets) companies.push(await foundCompany({ database, query, target, base_url, record }))
      await database.close()
      return companies
    }
    return { query, targets, foundCompanies, services, mails: openMails(query, mail), answers, complaints, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** As `npm run db:setup` makes it, and migrated. */
async function makeDatabase(server: TestServer): Promise<void> {
  const admin = await connectAlone({ ...server, database: 'postgres' })
  await ensureDatabase(admin, name)
  await admin.end()
  const inside = await connectAlone({ ...server, database: name })
  await setUpRoles(inside, name, { owner: 'owner', app: 'app' })
  await inside.end()
  await migrate(asRole(server, ownerRole, 'owner', name))
}
