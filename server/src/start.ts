import { subscribers } from './app.ts'
import { findUnreachableTenants } from './auth/global-provider-sign-in.flow.ts'
import { hasSigningKey } from './auth/signing-key-store.ts'
import { openTokenKeys } from './auth/token-keys.flow.ts'
import { type Config, readConfig } from './config/config.ts'
import { describeStartFault } from './config/start-fault.ts'
import { readVersion, type Version } from './config/version.ts'
import type { Place } from './console/place.ts'
import { openServedConsole, type ServedConsole } from './console/served-console.ts'
import { analyzeGrown } from './db/analyze-grown.ts'
import { type Database, openDatabase } from './db/transaction.ts'
import { type OpenedDatabase, openForService } from './embedded-postgres/open-database.ts'
import { openPresence, type Presence } from './health/presence.ts'
import { type Loop, startLoop } from './jobs/loop.ts'
import { releaseLeases } from './jobs/release-leases.ts'
import { withinDeadline } from './kernel/deadline.ts'
import { throttledLog } from './kernel/throttled-log.ts'
import { type ListenAddress, listenAt, requireFreePort } from './listening.ts'
import { type Log, type OpenedLog, openLog } from './log/log.ts'
import { openMetrics } from './metrics/metrics.ts'
import { type MetricsPage, serveMetrics } from './metrics/serve-metrics.ts'
import { countQuestions, type Watched, watch } from './metrics/watch.ts'
import { policyEvaluator } from './policy-engine/deciding/evaluate.ts'
import { type DriverTypes, pacesOf } from './provisioners/drivers.ts'
import { loadRootKeys } from './secrets/root-key-file.ts'
import { createApp } from './serve.ts'
import {
  sayDatabase,
  sayHowToSetUp,
  sayIfBrowsersCannotSignIn,
  sayReady,
  sayTenants,
  sayVersion,
} from './start-report.ts'
import { followStopSignals } from './stop-signals.ts'
import { bootstrap } from './tenants/bootstrap.flow.ts'

/** Connections by purpose: each purpose has its own, so that a flood of one cannot delay another. */
const connections = {
  requests: { writes: 8, long: 4 },
  /** The check of rights before a change commits: the change waits for it, and holds one of the connections above. */
  confirming: { writes: 1, long: 4 },
  /** Due work and events. */
  background: { writes: 3, long: 2 },
  /** Revokes. */
  revocation: { writes: 2, long: 2 },
  /** Health and metrics, which must answer even during a flood of requests, and not wait for each other. */
  watching: { writes: 2, long: 1 },
}

/** A stop that takes longer than this plus its delay is cut short: unfinished work resumes at the next start. */
const maxStopMs = 25_000

/** The time for the process to make itself known before it says that it is ready. */
const maxBeatMs = 1_000

/** The time for transactions in flight to end when the databases are closed. */
const maxCloseMs = 3_000

/**
 * Runs the service until a signal. If it cannot start, it says why and the process ends. `types`: the drivers of targets. `place`: where
 * builds of the console are, if not in this checkout.
 */
export function start(types: DriverTypes, place?: Place): void {
  const given = readConfigOrFault()
  const { config } = given
  const opened = openLog(logOptions(config))
  const { say, fail } = opened
  const end = (error: unknown) => {
    fail(`Sallyport does not start: ${describeStartFault(error, config)}`)
    process.exit(1)
  }
  if (config === undefined) {
    end(given.fault)
    return
  }
  const stopping = followStopSignals(say, maxStopMs + config.stop_delay_seconds * 1_000)
  openService({ ...opened, config, stopping, types, place }).catch((error: unknown) => {
    // What the signal broke off says nothing.
    if (stopping.aborted) process.exit(0)
    end(error)
  })
}

type Given = { config: Config } | { config: undefined; fault: unknown }

function readConfigOrFault(): Given {
  try {
    return { config: readConfig() }
  } catch (fault) {
    return { config: undefined, fault }
  }
}

function logOptions(config: Config | undefined) {
  const { log_level: level = 'info', log_format } = config ?? {}
  return { level, format: log_format ?? (process.stdout.isTTY ? 'text' : 'json') } as const
}

type Starting = OpenedLog & {
  config: Config
  stopping: AbortSignal
  types: DriverTypes
  place: Place | undefined
}

/** config → database → migrate → app → workers. A signal meanwhile stops what was started. */
async function openService({ config, log, say, fail, stopping, types, place }: Starting): Promise<void> {
  const version = readVersion()
  sayVersion(version, log, say)
  const { host, port } = config
  const addresses: ListenAddress[] = [{ prefix: '', host, port }]
  if (config.metrics !== undefined) addresses.push({ prefix: 'METRICS_', ...config.metrics })
  for (const one of addresses) await requireFreePort(one)
  const opened = await openForService(config, say, (reason) => {
    fail(`the embedded database ended: ${reason}. Sallyport stops; start it again`)
    process.exit(1)
  })
  let stop = opened.stop
  try {
    stopping.throwIfAborted()
    const site = await openServedConsole(say, place)
    const running = await serve({ config, log, version, opened, types, site })
    stop = running.stop
    await sayDatabase(running, config, say)
    const isNew = await bootstrap({
      database: running.background,
      dataDir: config.data_dir,
      baseUrl: config.public_url,
      log: say,
    })
    await sayTenants(running.background, say)
    sayIfBrowsersCannotSignIn(config, log)
    const unreachable = await findUnreachableTenants(running.background.work, config.oidc)
    if (unreachable !== undefined) log.warn(unreachable)
    if (config.database_url === undefined) await releaseLeases(running.background)
    stopping.throwIfAborted()
    running.app.startWorkers()
    await listenAt({ prefix: '', host, port }, () =>
      running.app.server.listen({ host, port, listenTextResolver: (address) => `listening at ${address}` }),
    )
    stopping.throwIfAborted()
    stopping.addEventListener('abort', () => void stopAndExit(stop, log))
    await makeKnown(running.presence)
    sayReady(config, site, say)
    // Not before: the API does not wait for it.
    const built = site.build()
    if (isNew) await sayHowToSetUp(config, running.background, say, built)
  } catch (error) {
    await stop()
    throw error
  }
}

/** The operator's commands find a service that says it is ready. A database that takes no writes now is the matter of `/readyz`. */
async function makeKnown(presence: Presence): Promise<void> {
  await withinDeadline<unknown>(
    maxBeatMs,
    () => presence.beat(),
    () => undefined,
  ).catch(() => undefined)
}

async function stopAndExit(stop: () => Promise<void>, log: Log): Promise<void> {
  try {
    await stop()
    process.exit(0)
  } catch (err) {
    log.fatal({ err }, 'the stop failed')
    process.exit(1)
  }
}

type Serving = {
  config: Config
  log: Log
  version: Version
  opened: OpenedDatabase
  types: DriverTypes
  site: ServedConsole
}

async function serve({ config, log, version, opened, types: driverTypes, site }: Serving) {
  const database = openDatabase(opened.service, connections.requests)
  const confirming = openDatabase(opened.service, connections.confirming)
  const background = openDatabase(opened.service, connections.background)
  const revocation = openDatabase(opened.service, connections.revocation)
  const watching = openDatabase(opened.service, connections.watching)
  const isSealed = await hasSigningKey(database.service)
  const rootKeys = loadRootKeys({ secretKey: config.secret_key, dataDir: config.data_dir, isSealed })
  const onFailure = (err: unknown) => log.error({ err }, 'the token keys could not be read again')
  const tokenKeys = await openTokenKeys({ database, rootKeys, issuer: config.public_url, onFailure })
  const metrics = config.metrics && openMetrics()
  metrics?.set('sallyport_build_info', { version: version.version, commit: version.commit ?? 'unknown' }, 1)
  const listenTo = opened.service
  const databases = { database, confirming, background, revocation, watching }
  const presence = openPresence(watching, { ...version, public_url: config.public_url })
  const app = await createApp({
    config,
    log,
    version,
    presence,
    ...databases,
    listenTo,
    rootKeys,
    tokenKeys,
    driverTypes,
    metrics,
    console: site.state,
  })
  const analyzing = followGrowth(watching, opened.owner, log)
  if (metrics !== undefined) countQuestions(policyEvaluator, metrics)
  const closeMetrics = await publishMetrics(
    config.metrics,
    metrics && {
      metrics,
      database: watching,
      pools: { requests: database, confirming, background, revocation, watching },
      subscribers: subscribers(config.mail_server !== undefined).map(({ name }) => name),
      underWay: () => app.server.underWay,
      followsChanges: app.followsChanges,
      isReady: app.isReady,
      listening: app.listening,
      paces: () => pacesOf(driverTypes),
    },
  )
  const stop = async () => {
    await Promise.all([site.stop(), app.stop(), analyzing?.stop()])
    await closeMetrics()
    // A database that is down never answers the transactions in flight.
    const close = async () => {
      await presence.leave().catch(() => undefined)
      await Promise.all(Object.values(databases).map((each) => each.close()))
    }
    await withinDeadline<unknown>(maxCloseMs, close, () => undefined)
    await opened.stop()
  }
  return { app, background, presence, stop }
}

/** Looks at the sizes of the tables after this many milliseconds. */
const growthEveryMs = 1_000

/** Keeps PostgreSQL's plans in step with young tables. Without the owner's role, autovacuum alone does, once a minute. */
function followGrowth({ work }: Database, owner: OpenedDatabase['owner'], log: Log): Loop | undefined {
  if (owner === undefined) return undefined
  const onFault = throttledLog<unknown>(60_000, (err, keptBack) => {
    log.warn({ err, keptBack }, 'tables that have grown could not be analyzed; it is retried')
  })
  return startLoop(() => analyzeGrown(work, owner).then(() => growthEveryMs), onFault)
}

/** Serves the metrics if they are configured; returns a function that stops it. */
async function publishMetrics(at: Config['metrics'], watched: Watched | undefined) {
  if (at === undefined || watched === undefined) return () => Promise.resolve()
  let page: MetricsPage | undefined
  await listenAt({ prefix: 'METRICS_', ...at }, async () => {
    page = await serveMetrics(at, watch(watched))
  })
  return () => page?.close()
}
