import { dueWork, openCarriers, outgoing, subscribers } from './app.ts'
import { type AdmissionCache, createAdmissionCache } from './auth/admission-cache.ts'
import { authenticateWith } from './auth/authenticate.flow.ts'
import { openProviderSignIn } from './auth/provider-sign-in.flow.ts'
import type { TokenKeys } from './auth/token-keys.flow.ts'
import { followClock } from './clock/follow-clock.ts'
import type { Config } from './config/config.ts'
import type { Version } from './config/version.ts'
import type { ConnectionTarget } from './db/client/connect.ts'
import { type Listening, listen } from './db/listen.ts'
import type { Database } from './db/transaction.ts'
import { readEgressAllow } from './egress/allow-list.ts'
import { openEgress } from './egress/egress.ts'
import { emit } from './events/emit.ts'
import { sample } from './events/sample.ts'
import { openMoving } from './grants/move-ends.flow.ts'
import { sweepEachTarget } from './grants/sweep-store.ts'
import type { Presence } from './health/presence.ts'
import { openReadiness } from './health/readiness.ts'
import { cursorCodec } from './http/cursor.ts'
import { serveFormPages } from './http/form-pages.ts'
import { serveScim } from './http/scim-server.ts'
import { buildServer, type HttpServer } from './http/server.ts'
import { sessionCookie } from './http/session-cookie.ts'
import { followInstallation, openInstallation } from './installation/follow-installation.ts'
import { type Loop, startLoop } from './jobs/loop.ts'
import type { Limit } from './kernel/bucket.ts'
import type { ConsoleState } from './kernel/console-state.ts'
import type { Ctx, Egress, Sealer } from './kernel/context.ts'
import type { Problem } from './kernel/errors.ts'
import { throttledLog } from './kernel/throttled-log.ts'
import type { Log } from './log/log.ts'
import { openMailer } from './mail/mailer.flow.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { CarrierOpening } from './notification-channels/carrier.ts'
import { operationExamples } from './operation-examples.ts'
import { operations } from './operations.ts'
import { type DriverTypes, openDrivers } from './provisioners/drivers.ts'
import { recordPages } from './record-pages/record-pages.ts'
import { scimOperations } from './scim-operations.ts'
import { derivedKeys, type RootKeys } from './secrets/root-key.ts'
import { openSealer } from './secrets/sealer.ts'
import { openStreamHub } from './stream/stream-hub.ts'
import { openDiscovery } from './tenants/discovery.flow.ts'
import { startLoops } from './workers.ts'

export type AppOptions = {
  config: Config
  log: Log
  version: Version
  /** For requests. */
  database: Database
  /** For the check of rights before a change commits, which must not wait for connections that changes hold. */
  confirming: Database
  /** For due work and events. */
  background: Database
  /** For revokes, which neither requests nor other work may delay; undefined: the same as `background`. */
  revocation?: Database
  /** What this process and those that share the database know of each other. Its write shows that the database takes writes. */
  presence: Presence
  /** The database that notifies of changes by other processes. Left out: every request reads the caller's rights from the database. */
  listenTo?: ConnectionTarget
  rootKeys: RootKeys
  tokenKeys: TokenKeys
  /** The drivers of targets, by type. */
  driverTypes: DriverTypes
  /** How long a process listens for another holder of a target before it writes a claim further. Undefined: for minutes. */
  claimListenMs?: number | undefined
  /** Undefined: metrics are off. */
  metrics?: Metrics | undefined
  /** Where the console is. Undefined: there is none. */
  console?: () => ConsoleState
}

/** The whole service, not yet listening. */
export type App = {
  server: HttpServer
  /** Whether changes of rights by other processes arrive at once. */
  followsChanges(): boolean
  /** Whether the database takes writes. */
  isReady(): boolean
  /** The number of open streams. */
  listening(): number
  /** Starts the loops for due work and events. */
  startWorkers(): void
  /** Stops answering and finishes the work in flight. The databases stay open; the caller closes them. */
  stop(): Promise<void>
}

/** Builds the service from the lists of `app.ts`. */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, log, version, database, background, presence, rootKeys, tokenKeys, metrics } = options
  const { revocation = background } = options
  const loops: Loop[] = []
  const streamHub = openStreamHub(background)
  const sealer = openSealer(rootKeys)
  const egress = openEgress(readEgressAllow(config.egress_allow))
  const egressPaths = openEgressPaths({ config, sealer, egress }, options)
  const sends_mail = config.mail_server !== undefined
  const acting = { ...egressPaths, subscribers: subscribers(sends_mail) }
  const readiness = openReadiness({ probe: presence.beat, log: () => server.log })
  let ready = true
  let listening: Listening | undefined
  const followsChanges = () => listening?.isFresh() ?? false
  const admissions = createAdmissionCache({ isFresh: followsChanges })
  const parts = {
    database,
    cursors: cursorCodec(derivedKeys(rootKeys, 'cursor')),
    tokens: tokenKeys,
    sealer,
    egress,
    public_url: config.public_url,
    sends_mail,
    ...signInParts({ ...options, sealer, egress, admissions }),
    discovery: await openDiscovery({ database, rootKeys }),
    streams: streamHub,
    dropAdmissions: admissions.drop,
    recordRefusal,
    afterWrite: () => loops.forEach(wake),
  }
  const server = await buildServer({
    operations,
    outgoing,
    examples: operationExamples,
    ...serverSettings(config),
    ...{ log, version },
    console: options.console,
    ...(metrics && counting(metrics)),
    findUnreadiness: async () => (ready ? readiness.check() : 'the service is stopping'),
    parts,
  })

  serveFormPages(server, pagesOf(options))
  serveScim(server, parts, scimOperations)
  listening = followChanges(options, admissions, log)
  const onStreamFault = throttledLog(5_000, (err) => log.error({ err }, streamFault))
  const [streaming, beating] = [startLoop(streamHub.check, onStreamFault), startLoop(streamHub.beat, onStreamFault)]

  return {
    server,
    followsChanges,
    isReady: readiness.isReady,
    listening: streamHub.listening,
    startWorkers: () => loops.push(...startLoops(log, { background, revocation }, acting, metrics, streaming.wake)),
    async stop() {
      ready = false
      readiness.stop()
      streamHub.close()
      await server.close()
      listening?.stop()
      egressPaths.leave()
      await Promise.all([streaming, beating, ...loops].map((loop) => loop.stop()))
      await egressPaths.close()
    },
  }
}

const streamFault = 'reading what is new for open streams failed; it is retried'

/** The pages that links in messages open. */
function pagesOf({ config: { public_url }, rootKeys }: AppOptions) {
  return recordPages({
    publicUrl: public_url,
    sessionCookie: sessionCookie(public_url),
    codec: cursorCodec(derivedKeys(rootKeys, 'record-page')),
  })
}

/** How callers prove who they are. */
function signInParts({
  config,
  log,
  database,
  confirming,
  rootKeys,
  tokenKeys: tokens,
  sealer,
  egress,
  admissions,
}: SignInOptions) {
  return {
    sessionCookie: sessionCookie(config.public_url),
    providerSignIn: openProviderSignIn({
      ...{ database, rootKeys, sealer, egress, global: config.oidc },
      onRefusal: (cause) => log.info({ cause }, 'a sign-in or a sign-out by a provider was refused'),
      dropAdmissions: admissions.drop,
    }),
    ...authenticateWith({
      ...{ database, confirming, tokens, admissions, limitBySource: config.limit_by_source },
      onFailure: (error) => log.warn(error),
    }),
  }
}

type SignInOptions = AppOptions & { sealer: Sealer; egress: Egress; admissions: AdmissionCache }

/** The workers' paths to outside systems: drivers of targets, and carriers of deliveries. */
function openEgressPaths(opening: CarrierOpening, options: AppOptions) {
  const {
    background,
    revocation = background,
    driverTypes: types,
    rootKeys,
    log,
    metrics,
    claimListenMs: listenMs,
  } = options
  const { config, sealer, egress } = opening
  const { public_url } = config
  const installation = openInstallation(background)
  const markKeys = derivedKeys(rootKeys, 'mark')
  const drivers = openDrivers({ types, sealer, egress, public_url, installation, markKeys, listenMs })
  const mailer = openMailer(config)
  const carriers = openCarriers(opening, mailer)
  const leaving = new AbortController()
  const onOutcome = (channel_type: string, outcome: string) =>
    metrics?.count('sallyport_deliveries_total', { channel_type, outcome })
  const onMail = (list: string, outcome: string) => metrics?.count('sallyport_mails_total', { list, outcome })
  return {
    works: dueWork(
      drivers,
      { carriers, mailer, sealer, public_url, leaving: leaving.signal, onOutcome, onMail },
      egress,
    ),
    following: [
      followInstallation(installation, { log, onEpoch: () => background.work.write([sweepEachTarget()]) }),
      followClock(revocation, {
        log,
        onJump: (direction) => metrics?.count('sallyport_database_clock_jumps_total', { direction }),
        moveEnds: openMoving(revocation),
      }),
    ],
    /** No further delivery begins. */
    leave: () => leaving.abort(),
    close: () => Promise.all([drivers.close(), ...Object.values(carriers).map((carrier) => carrier.close())]),
  }
}

const wake = (loop: Loop): void => loop.wakeInTurn()

/** Records in the audit log an operation that a credential does not permit; of many similar ones only a sample. */
async function recordRefusal(ctx: Ctx, operationId: string, { code }: Problem): Promise<void> {
  const data = { operation: operationId, code, source_ip: ctx.source_ip }
  const event = { type: 'access.refused', subject_type: 'operation', subject_id: operationId, data } as const
  const kept = sample(ctx, event)
  if (kept !== undefined) await ctx.tx.write([emit(ctx, kept)])
}

/** Drops cached credentials when another process changes the data that they depend on. */
function followChanges(
  { listenTo, background }: AppOptions,
  { drop, clear }: AdmissionCache,
  log: Log,
): Listening | undefined {
  if (listenTo === undefined) return undefined
  return listen({
    target: listenTo,
    channel: 'sallyport_authority',
    beats: background.service,
    onNotice: drop,
    onConnect: clear,
    onFresh: () => log.info('changes of rights by other processes arrive at once: credentials are cached for seconds'),
    onLoss: (err) =>
      log.warn(
        { err },
        'changes of rights by other processes do not arrive: every request reads rights from the database',
      ),
  })
}

function serverSettings(config: Config) {
  return {
    publicUrl: config.public_url,
    trustProxy: config.trust_proxy,
    stopDelayMs: config.stop_delay_seconds * 1_000,
    limits: {
      credential: limitOf('credential', config.rate_limit),
      tenant: limitOf('tenant', config.tenant_rate_limit),
      bySource: config.limit_by_source,
      discoveriesPerMinute: config.discoveries_per_minute,
    },
  }
}

function limitOf<Name extends string>(name: Name, limit: Config['rate_limit']): Limit<Name> | undefined {
  return limit && { name, quota: limit.burst, seconds: limit.burst / limit.per_second }
}

function counting(metrics: Metrics) {
  return {
    onAnswered(operationId: string | undefined, status: number, seconds: number) {
      const operation = operationId ?? 'none'
      metrics.count('sallyport_requests_total', { operation, status: String(status) })
      metrics.observe('sallyport_request_duration_seconds', { operation }, seconds)
    },
    onLimited: (limit: string) => metrics.count('sallyport_limited_total', { limit }),
  }
}
