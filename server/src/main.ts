import { hasSigningKey } from './auth/signing-key-store.ts'
import { openTokenKeys } from './auth/signing-keys.ts'
import { type Config, readConfig } from './config/config.ts'
import { type OpenedDatabase, openForService } from './db/open.ts'
import { openDatabase } from './db/transaction.ts'
import { releaseLeases } from './jobs/release-leases.ts'
import { loadRootKey } from './secrets/root-key.ts'
import { type App, createApp } from './serve.ts'
import { bootstrap } from './tenants/bootstrap.ts'

/** Connections for requests, and for what is done beside them. */
const requestConnections = 8
const backgroundConnections = 4

/** A stop that takes longer is cut short: what is under way is taken up again at the next start. */
const longestStopMs = 25_000

/** start: config → database → migrate → app → workers. */
async function start(): Promise<void> {
  const config = readConfig()
  const say = (line: string) => console.log(line)
  const opened = await openForService(config, say, (reason) => {
    console.error(`the embedded database ended: ${reason}. Sallyport stops; start it again to go on`)
    process.exit(1)
  })
  let stop = opened.stop
  try {
    const running = await serve(config, opened)
    stop = running.stop
    stopOnSignals(stop)
    await bootstrap({
      database: running.background,
      dataDir: config.data_dir,
      baseUrl: config.public_url,
      log: say,
    })
    if (config.database_url === undefined) await releaseLeases(running.background)
    running.app.startWorkers()
    await listen(running.app, config)
    say(`Sallyport is ready at ${config.public_url} — reference at ${config.public_url}/docs`)
  } catch (error) {
    await stop()
    throw error
  }
}

async function listen({ server }: App, { host, port }: Config): Promise<void> {
  try {
    await server.listen({ host, port })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRNOTAVAIL') throw new Error(`HOST is \`${host}\`, which is no address of this machine`)
    if (code !== 'EADDRINUSE') throw error
    throw new Error(`another program listens on \`${host}:${port}\`: stop that one, or set PORT to a free one`)
  }
}

async function serve(config: Config, opened: OpenedDatabase) {
  const database = openDatabase(opened.service, requestConnections)
  const background = openDatabase(opened.service, backgroundConnections)
  const isSealed = await hasSigningKey(database.service)
  const rootKey = loadRootKey({ secretKey: config.secret_key, dataDir: config.data_dir, isSealed })
  const onFailure = (error: unknown) => console.error('the token keys could not be read anew:', error)
  const tokenKeys = await openTokenKeys({ database, rootKey, issuer: config.public_url, onFailure })
  const app = await createApp({ config, database, background, rootKey, tokenKeys })
  const stop = async () => {
    await app.stop()
    await Promise.all([database.close(), background.close()])
    await opened.stop()
  }
  return { app, background, stop }
}

/** The first signal drains, the database last; a second one leaves at once. */
function stopOnSignals(stop: () => Promise<void>): void {
  let stopping = false
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1)
    stopping = true
    console.log(`${signal}: finishing what is under way`)
    setTimeout(() => process.exit(1), longestStopMs).unref()
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

start().catch((error: unknown) => {
  console.error(`Sallyport does not start: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
})
