import { subscribers } from './app.ts'
import { findUnreachableTenants } from './auth/global-provider-sign-in.flow.ts'
import { hasSigningKey } from './auth/signing-key-store.ts'
import { openTokenKeys } from './auth/token-keys.flow.ts'
import { type Config, readConfig } from './config/config.ts'
import type { Place } from './console/place.ts'
import { openServedConsole, type ServedConsole } from './console/served-console.ts'
import { type Database, openDatabase } from './db/transaction.ts'
import { type OpenedDatabase, openForService } from './embedded-postgres/open-database.ts'
import { sessionCookie } from './http/session-cookie.ts'
import { releaseLeases } from './jobs/release-leases.ts'
import { withinDeadline } from './kernel/deadline.ts'
import { openMetrics } from './metrics/metrics.ts'
import { type MetricsPage, serveMetrics } from './metrics/serve-metrics.ts'
import { countQuestions, type Watched, watch } from './metrics/watch.ts'
import { policyEvaluator } from './policy-engine/deciding/evaluate.ts'
import type { DriverTypes } from './provisioners/drivers.ts'
import { loadRootKeys } from './secrets/root-key-file.ts'
import { createApp } from './serve.ts'
import { bootstrap } from './tenants/bootstrap.flow.ts'
import { makeSetupLink } from './tenants/setup-link.flow.ts'

/** Connections by purpose: each purpose has its own, so that a flood of one cannot delay another. */
const connections = {
  requests: { writes: 8, long: 4 },
  /** The check of rights before a change commits: the change waits for it, and holds one of the connections above. */
  confirming: { writes: 1, long: 4 },
  /** Due work and events. */
  background: { writes: 2, long: 2 },
  /** Revokes. */
  revocation: { writes: 2, long: 2 },
  /** Health and metrics. */
  watching: { writes: 1, long: 1 },
}

/** A stop that takes longer than this plus its delay is cut short: unfinished work resumes at the next start. */
const maxStopMs = 25_000

/** The time for transactions in flight to end when the databases are closed. */
const maxCloseMs = 3_000

/** How long the first start keeps its last line, the setup link, for a build of the console to end: people go on from there. */
const maxBuildWaitMs = 30_000
const stillBuilding = () => true

/**
 * Runs the service until a signal. If it cannot start, it prints why and the process ends. `types`: the drivers of targets. `place`: where
 * builds of the console are, if not in this checkout.
 */
export function start(types: DriverTypes, place?: Place): void {
  openService(types, place).catch((error: unknown) => {
    console.error(`Sallyport does not start: ${error instanceof Error ? error.message : String(error)}`)
    process.exit(1)
  })
}

/** config → database → migrate → app → workers. */
async function openService(types: DriverTypes, place: Place | undefined): Promise<void> {
  const config = readConfig()
  const say = (line: string) => console.log(line)
  const opened = await openForService(config, say, (reason) => {
    console.error(`the embedded database ended: ${reason}. Sallyport stops; start it again`)
    process.exit(1)
  })
  let stop = opened.stop
  try {
    const site = await openServedConsole(say, place)
    const running = await serve(config, opened, types, site)
    stop = running.stop
    stopOnSignals(stop, maxStopMs + config.stop_delay_seconds * 1_000)
    const isNew = await bootstrap({
      database: running.background,
      dataDir: config.data_dir,
      baseUrl: config.public_url,
      log: say,
    })
    sayIfBrowsersCannotSignIn(config, say)
    const unreachable = await findUnreachableTenants(running.background.work, config.oidc)
    if (unreachable !== undefined) say(unreachable)
    if (config.database_url === undefined) await releaseLeases(running.background)
    running.app.startWorkers()
    await listen('', config, () => running.app.server.listen({ host: config.host, port: config.port }))
    say(readyLine(config, site))
    // Not before: the API does not wait for it.
    const built = site.build()
    if (isNew) await sayHowToSetUp(config, running.background, say, built)
  } catch (error) {
    await stop()
    throw error
  }
}

function readyLine({ public_url }: Config, site: ServedConsole): string {
  const state = site.state()
  const hasConsole = state === 'building' || 'folder' in state
  const places = [...(hasConsole ? [`console at ${public_url}/console/`] : []), `reference at ${public_url}/docs`]
  return `Sallyport is ready at ${public_url} — ${places.join(', ')}`
}

/** Once: a link in the log of each start would let its readers in again and again. The service runs without it. */
async function sayHowToSetUp(
  { public_url }: Config,
  database: Database,
  say: (line: string) => void,
  built: Promise<boolean>,
): Promise<void> {
  // The link stays the last line, where people look for it.
  const goesOn = await withinDeadline(maxBuildWaitMs, () => built, stillBuilding)
  if (!goesOn) return
  const again = 'npm run admin -- setup-link'
  await makeSetupLink(database, { public_url }).then(
    ({ url }) => say(`Open ${url} (once, within an hour; again: ${again})`),
    (error: unknown) => say(`no setup link could be made (${String(error)}); \`${again}\` makes one`),
  )
}

/** A cookie over plain http could be read on the way. A tunnel makes the service reachable on loopback. */
function sayIfBrowsersCannotSignIn({ public_url, port }: Config, say: (line: string) => void): void {
  const { fault } = sessionCookie(public_url)
  if (fault === undefined) return
  const { hostname } = new URL(public_url)
  const tunnel = `ssh -L ${port}:127.0.0.1:${port} ${hostname}`
  say(
    `${fault}. Set PUBLIC_URL to an https address; for a trial, \`${tunnel}\` and PUBLIC_URL=http://127.0.0.1:${port}`,
  )
}

/** Listens, or throws a sentence with the cause. `prefix`: of the variables HOST and PORT. */
async function listen(prefix: '' | 'METRICS_', at: { host: string; port: number }, begin: () => Promise<unknown>) {
  try {
    await begin()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const address = `${at.host}:${at.port}`
    if (code === 'EADDRNOTAVAIL')
      throw new Error(`${prefix}HOST is \`${at.host}\`, which is not an address of this machine`)
    if (code !== 'EADDRINUSE') throw error
    throw new Error(`another program listens on \`${address}\`: stop it, or set ${prefix}PORT to a free port`)
  }
}

async function serve(config: Config, opened: OpenedDatabase, driverTypes: DriverTypes, site: ServedConsole) {
  const database = openDatabase(opened.service, connections.requests)
  const confirming = openDatabase(opened.service, connections.confirming)
  const background = openDatabase(opened.service, connections.background)
  const revocation = openDatabase(opened.service, connections.revocation)
  const watching = openDatabase(opened.service, connections.watching)
  const isSealed = await hasSigningKey(database.service)
  const rootKeys = loadRootKeys({ secretKey: config.secret_key, dataDir: config.data_dir, isSealed })
  const onFailure = (error: unknown) => console.error('the token keys could not be read again:', error)
  const tokenKeys = await openTokenKeys({ database, rootKeys, issuer: config.public_url, onFailure })
  const metrics = config.metrics && openMetrics()
  const listenTo = opened.service
  const databases = { database, confirming, background, revocation, watching }
  const app = await createApp({
    config,
    ...databases,
    listenTo,
    rootKeys,
    tokenKeys,
    driverTypes,
    metrics,
    console: site.state,
  })
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
      listening: app.listening,
    },
  )
  const stop = async () => {
    await Promise.all([site.stop(), app.stop()])
    await closeMetrics()
    // A database that is down never answers the transactions in flight.
    const close = () => Promise.all(Object.values(databases).map((each) => each.close()))
    await withinDeadline<unknown>(maxCloseMs, close, () => undefined)
    await opened.stop()
  }
  return { app, background, stop }
}

/** Serves the metrics if they are configured; returns a function that stops it. */
async function publishMetrics(at: Config['metrics'], watched: Watched | undefined) {
  if (at === undefined || watched === undefined) return () => Promise.resolve()
  let page: MetricsPage | undefined
  await listen('METRICS_', at, async () => {
    page = await serveMetrics(at, watch(watched))
  })
  return () => page?.close()
}

/** The first signal drains the service and stops the database last. A second signal exits at once. */
function stopOnSignals(stop: () => Promise<void>, maxMs: number): void {
  let stopping = false
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1)
    stopping = true
    console.log(`${signal}: finishing the work in flight`)
    setTimeout(() => process.exit(1), maxMs).unref()
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error('the stop failed:', error)
        process.exit(1)
      },
    )
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
}
