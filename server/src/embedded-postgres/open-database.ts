import type { Config } from '../config/config.ts'
import { type ConnectionTarget, connectAlone } from '../db/client/connect.ts'
import { describeMigrations, nameMigrations } from '../db/describe-migrations.ts'
import { compareMigrations, listMigrations, migrate } from '../db/migrate.ts'
import { requireNoneTooNew } from '../db/newer-schema.ts'
import { appRole, ensureDatabase, ownerRole, setUpRoles } from '../db/roles.ts'
import { findIsolationFaults } from '../db/tenant-isolation.ts'
import { findPlace } from './place.ts'
import { type EmbeddedOptions, readRunningEmbedded, startEmbedded } from './start.ts'

type Log = EmbeddedOptions['log']

/** A database that is ready to serve: at this version, with its tenant isolation checked. */
export type OpenedDatabase = {
  service: ConnectionTarget
  /** The role that owns the tables; undefined if it is not configured. */
  owner: ConnectionTarget | undefined
  /** Stops the embedded server if this process started it. Call it last. */
  stop(): Promise<void>
}

type Endpoint = { host: string; port: number; superuser: string; password: string | undefined }

const embeddedDatabase = 'sallyport'

/**
 * Finds the configured database, or starts the embedded one; migrates it to this version; refuses a database without correct
 * tenant isolation, or one that is too new for this version.
 * @throws Error with a sentence for the operator.
 */
export async function openForService(
  config: Config,
  log: Log,
  onCrash: (reason: string) => void,
): Promise<OpenedDatabase> {
  if (config.database_url !== undefined) return openGiven(config.database_url, config.database_owner_url, log)
  const embedded = await startEmbedded({ dataDir: config.data_dir, log, onCrash })
  try {
    return { ...(await prepareEmbedded(embedded, log)), stop: embedded.stop }
  } catch (error) {
    await embedded.stop()
    throw error
  }
}

/**
 * The same for a command, while the service may run: a running embedded server is shared; else it is started for the duration of
 * the command. No database is created: if there is none, the command was given the wrong folder.
 */
export async function openForOperator(config: Config, log: Log): Promise<OpenedDatabase> {
  const { database_url, data_dir } = config
  if (database_url !== undefined) return openForService(config, log, (reason) => log(reason))
  const running = await readRunningEmbedded(data_dir)
  if (running !== undefined) {
    const { service, owner } = targetsOf(running)
    requireNoneTooNew((await compareMigrations(service)).too_new)
    return { service, owner, stop: async () => undefined }
  }
  requireEmbedded(data_dir)
  return openForService(config, log, (reason) => log(reason))
}

function requireEmbedded(data_dir: string): void {
  if (findPlace(data_dir) !== undefined) return
  throw new Error(
    `there is no database in \`${data_dir}\`: set DATA_DIR or DATABASE_URL to the same value as for the service`,
  )
}

/**
 * The same, but without migration: so a backup can be made before an upgrade, and a restore can fill the tables as they were.
 * `make`: whether to create an embedded database if there is none.
 */
export async function openAsItIs(config: Config, log: Log, make: boolean): Promise<OpenedDatabase> {
  const opened = await findAsItIs(config, log, make)
  try {
    await requireIsolation(opened.service)
    requireNoneTooNew((await compareMigrations(opened.service)).too_new)
    return opened
  } catch (error) {
    await opened.stop()
    throw error
  }
}

/**
 * The same for a command that reads the tables before an upgrade. `needed`: the last migration that its reading needs.
 * @throws Error with a sentence for the operator, also if the database is older than that
 */
export async function openBeforeUpgrade(config: Config, log: Log, needed: string): Promise<OpenedDatabase> {
  const opened = await openAsItIs(config, log, false)
  try {
    await requireMigrated(opened.service, needed)
    return opened
  } catch (error) {
    await opened.stop()
    throw error
  }
}

async function requireMigrated(service: ConnectionTarget, needed: string): Promise<void> {
  const missing = (await compareMigrations(service)).missing.filter((name) => name <= needed)
  const [first] = missing
  if (first === undefined) return
  if (first === (await listMigrations())[0]?.name)
    throw new Error('the database has no tables of Sallyport; check DATABASE_URL or DATA_DIR')
  throw new Error(
    `the database lacks ${nameMigrations(missing)}, without which this version cannot read it. Make a backup of it ` +
      '(`npm run backup -- FILE`), restore that with this version into another database (`npm run restore -- FILE`), ' +
      'which migrates the copy, and run this command there',
  )
}

async function findAsItIs(config: Config, log: Log, make: boolean): Promise<OpenedDatabase> {
  const { database_url, database_owner_url, data_dir } = config
  if (database_url !== undefined) {
    const owner = database_owner_url === undefined ? undefined : { connectionString: database_owner_url }
    await requireAnswer('DATABASE_URL', { connectionString: database_url })
    if (owner !== undefined) await requireAnswer('DATABASE_OWNER_URL', owner)
    return { service: { connectionString: database_url }, owner, stop: async () => undefined }
  }
  const running = await readRunningEmbedded(data_dir)
  if (running !== undefined) return { ...targetsOf(running), stop: async () => undefined }
  if (!make) requireEmbedded(data_dir)
  const embedded = await startEmbedded({ dataDir: data_dir, log, onCrash: (reason) => log(reason) })
  try {
    return { ...(await setUpEmbedded(embedded)), stop: embedded.stop }
  } catch (error) {
    await embedded.stop()
    throw error
  }
}

async function openGiven(database_url: string, owner_url: string | undefined, log: Log): Promise<OpenedDatabase> {
  const service = { connectionString: database_url }
  const owner = owner_url === undefined ? undefined : { connectionString: owner_url }
  await requireAnswer('DATABASE_URL', service)
  if (owner !== undefined) {
    await requireAnswer('DATABASE_OWNER_URL', owner)
    await migrateAndReport(owner, log)
  }
  await requireReady(service)
  return { service, owner, stop: async () => undefined }
}

/** The error names the variable and not its value, because the URL may contain a password. */
async function requireAnswer(variable: string, target: ConnectionTarget): Promise<void> {
  try {
    const client = await connectAlone(target)
    await client.end()
  } catch (error) {
    const reason = error instanceof Error ? error.message || String((error as { code?: unknown }).code) : String(error)
    throw new Error(
      `cannot connect to the database of ${variable}: ${reason}. Check that it runs, and check the value of ${variable}`,
      {
        cause: error,
      },
    )
  }
}

async function prepareEmbedded(endpoint: Endpoint, log: Log) {
  const { owner, service } = await setUpEmbedded(endpoint)
  await migrateAndReport(owner, log)
  await requireReady(service)
  return { service, owner }
}

/** Creates its database and roles if they are missing. */
async function setUpEmbedded(endpoint: Endpoint) {
  const { admin, owner, service } = targetsOf(endpoint)
  const client = await connectAlone({ ...admin, database: 'postgres' })
  try {
    await ensureDatabase(client, embeddedDatabase)
  } finally {
    await client.end()
  }
  const inside = await connectAlone(admin)
  try {
    await setUpRoles(inside, embeddedDatabase, passwordsOf(endpoint))
  } finally {
    await inside.end()
  }
  return { owner, service }
}

/** A unix socket is protected by its folder; on a loopback port every role needs the password. */
function passwordsOf({ password }: Endpoint) {
  return password === undefined ? undefined : { owner: password, app: password }
}

function targetsOf({ host, port, superuser, password }: Endpoint) {
  const as = (user: string): ConnectionTarget => ({
    host,
    port,
    user,
    database: embeddedDatabase,
    ...(password !== undefined && { password }),
  })
  return { admin: as(superuser), owner: as(ownerRole), service: as(appRole) }
}

async function migrateAndReport(owner: ConnectionTarget, log: Log): Promise<void> {
  const said = describeMigrations(await migrate(owner, undefined, log), (await listMigrations())[0]?.name)
  if (said !== undefined) log(said)
}

async function requireReady(service: ConnectionTarget): Promise<void> {
  await requireIsolation(service)
  const { missing, too_new, is_half_restored } = await compareMigrations(service)
  requireNoneTooNew(too_new)
  if (is_half_restored) {
    throw new Error(
      'a restore into this database did not end: restore the backup into a new database, and start on that',
    )
  }
  if (missing.length > 0) {
    const isMade = (await listMigrations()).length > missing.length
    const lack = isMade ? `lacks ${nameMigrations(missing)}` : 'has no tables of Sallyport yet'
    throw new Error(
      `the database ${lack}; set DATABASE_OWNER_URL, so that this start can migrate it ` +
        '(the second line that `npm run db:setup` printed)',
    )
  }
}

async function requireIsolation(service: ConnectionTarget): Promise<void> {
  const faults = await findIsolationFaults(service)
  if (faults.length > 0) {
    throw new Error(
      `the database is not set up for Sallyport: ${faults.join('; ')}. ` +
        'Use the lines that `npm run db:setup` printed; `npm run db:setup -- --help` says how to get them, or to repair grants',
    )
  }
}
