import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { ConnectionTarget } from '../../src/db/client/connect.ts'
import { type Client, clientAt } from './client.ts'
import { dataFolder } from './data-folder.ts'
import { testDatabase } from './database.ts'
import { freePort } from './free-port.ts'
import { unlimited } from './unlimited.ts'
import { until } from './wait.ts'

/** A child process of a test, and everything that it wrote to both outputs. */
export type Started = {
  pid: number
  output(): string
  /** The same as people read it: of each entry of the log only its message. */
  said(): string[]
  /** Undefined while it runs; null after a signal that it did not handle. */
  exitCode(): number | null | undefined
  /** Waits for its end. */
  end(): Promise<number | null>
  signal(name: NodeJS.Signals): void
}

/** The result of the first start. */
export type Bootstrap = {
  base_url: string
  tenant_id: string
  admin: { email: string; password: string }
  api_key: string
  expires_at: string
}

export type Credential = { token: string } | { api_key: string } | undefined

/** A user who has signed in, and their credentials. */
export type Person = { id: string; email: string; password: string; token: string; call: Client }

/** The real service, running as its own process. */
export type Sallyport = Started & {
  base_url: string
  data_dir: string
  bootstrap: Bootstrap
  /** Milliseconds from the start of the process to its first `ready`. */
  readyAfterMs: number
  /** A client for the tenant of the first start. */
  client(credential: Credential): Client
  /** Creates a user and signs them in. */
  join(name: string, roles: string[]): Promise<Person>
  /** Megabytes of the Node process: now, and its peak so far. */
  memory(): { now: number; peak: number }
  /** Ends it as an operator would, and waits; returns its exit code. */
  stop(): Promise<number | null>
  /** Ends it abruptly, as a power cut would. */
  kill(): Promise<void>
}

const root = fileURLToPath(new URL('../../../', import.meta.url))

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }

/** How the service is started: as `npm start` does, or with a sandbox that meets injected faults. */
export type ServiceStart = 'start' | 'startWithFaults'

const programs: Readonly<Record<string, string | undefined>> = {
  ...scripts,
  startWithFaults: scripts.start?.replace('src/main.ts', 'test/support/start-with-faults.ts'),
}

/**
 * Runs `npm run <script>` directly, without npm, with this environment added to the ordinary one; it is ended when the tests
 * are done.
 */
export function startScript(
  name: ServiceStart | 'demo' | 'admin' | 'backup' | 'restore' | 'db:setup',
  args: readonly string[],
  env: Record<string, string>,
): Started {
  const { child, started } = spawnScript(name, args, env, shortLived)
  after(() => endChild(child))
  return started
}

/** Optimizing the policy engine's WebAssembly takes longer than a test needs its service. */
const shortLived = ['--liftoff-only', '--import', new URL('keep-compiled.ts', import.meta.url).href]

function spawnScript(
  name: string,
  args: readonly string[],
  env: Record<string, string>,
  options: readonly string[] = [],
) {
  const words = (programs[name] ?? '').split(' ')
  const child = spawn(process.execPath, [...options, ...words.slice(1), ...args], {
    cwd: root,
    env: { ...ordinaryEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
  }
  const ended = once(child, 'close').then(([code]) => code as number | null)
  let exitCode: number | null | undefined
  void ended.then((code) => {
    exitCode = code
  })
  const started: Started = {
    pid: child.pid ?? 0,
    output: () => log,
    said: () => log.trim().split('\n').map(messageOf),
    exitCode: () => exitCode,
    end: () => ended,
    signal: (signal) => void child.kill(signal),
  }
  return { child, started }
}

function messageOf(line: string): string {
  return line.startsWith('{"level"') ? String((JSON.parse(line) as { msg?: string }).msg) : line
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** Without variables that configure a service, its database or a test. */
function ordinaryEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env
  return {
    ...(PATH && { PATH }),
    ...(HOME && { HOME }),
    ...(TMPDIR && { TMPDIR }),
    ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
    NO_COLOR: '1',
  }
}

/** Starts on the embedded PostgreSQL in `data_dir`, as `npm start` does; waits until it is ready. */
export function startOnEmbedded(
  data_dir: string,
  env: Record<string, string> = {},
  how: ServiceStart = 'start',
): Promise<Sallyport> {
  return start(data_dir, env, how)
}

function start(data_dir: string, env: Record<string, string>, how: ServiceStart): Promise<Sallyport> {
  return untilReady(data_dir, env, (all) => startScript(how, [], all))
}

/** Starts with injected faults, for a command that is not a test: the caller ends it. `how`: or as an operator starts it. */
export function startUnattended(
  data_dir: string,
  env: Record<string, string>,
  how: ServiceStart = 'startWithFaults',
): Promise<Sallyport> {
  return untilReady(data_dir, env, (all) => spawnScript(how, [], all).started)
}

async function untilReady(
  data_dir: string,
  env: Record<string, string>,
  run: (env: Record<string, string>) => Started,
): Promise<Sallyport> {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort()
    const began = performance.now()
    const own = { DATA_DIR: data_dir, PORT: `${port}` }
    const started = run({ LOG_LEVEL: 'warn', ...unlimited, ...env, ...own })
    const base_url = `http://127.0.0.1:${port}`
    const isReady = await until('the service is ready', async () => {
      if (started.exitCode() !== undefined) return 'no'
      return (await fetch(`${base_url}/readyz`).catch(() => undefined))?.ok && 'yes'
    })
    if (isReady === 'yes') return running(started, base_url, data_dir, performance.now() - began)
    // Another test took the port in between.
    const isTaken = started.output().includes('another program listens on') && tries < 5
    if (!isTaken) throw new Error(`the service ended:\n${started.output()}`)
  }
}

/** Starts on the database that these variables name; stopped when the file's tests are done. */
export async function startOn(
  databases: { DATABASE_URL: string; DATABASE_OWNER_URL: string },
  data_dir: string,
  env: Record<string, string>,
  how: ServiceStart = 'start',
): Promise<Sallyport> {
  return start(data_dir, { ...databases, ...env }, how)
}

/**
 * Starts on its own database on the test run's server. `asSuperuser` is exempt from tenant isolation. `beside` starts another
 * process on the same database with the same root key, optionally through another connection target.
 */
export async function startOnTestServer(env: Record<string, string> = {}, how?: ServiceStart) {
  const stops: (() => Promise<unknown>)[] = []
  // Before the database is dropped, by a hook that is registered next.
  after(() => Promise.all(stops.map((stop) => stop())))
  const { service, owner, asSuperuser } = await testDatabase()
  const databases = { DATABASE_URL: urlOf(service), DATABASE_OWNER_URL: urlOf(owner) }
  const data_dir = await dataFolder()
  const beside = async (reachedBy: ConnectionTarget = service) => {
    const sallyport = await startOn({ ...databases, DATABASE_URL: urlOf(reachedBy) }, data_dir, env, how)
    stops.push(sallyport.stop)
    return sallyport
  }
  return { ...(await beside()), asSuperuser, service, beside }
}

export function urlOf({ host, port, user, password, database }: ConnectionTarget): string {
  return `postgres://${user}:${password}@/${database}?host=${encodeURIComponent(host ?? '')}&port=${port}`
}

function running(started: Started, base_url: string, data_dir: string, readyAfterMs: number): Sallyport {
  const path = join(data_dir, 'bootstrap.json')
  const bootstrap = JSON.parse(existsSync(path) ? readFileSync(path, 'utf8') : '{}') as Bootstrap
  const client = (credential: Credential) =>
    clientAt(base_url, { 'x-tenant-id': bootstrap.tenant_id, ...headersOf(credential) })
  const owner = client({ api_key: bootstrap.api_key })
  return {
    ...started,
    base_url,
    data_dir,
    bootstrap,
    readyAfterMs,
    client,
    async join(name, roles) {
      const email = `${name.toLowerCase().replaceAll(' ', '.')}-${randomUUID().slice(0, 8)}@example.com`
      const password = randomUUID()
      const made = await owner<{ id: string }>('POST', '/v1/users', { email, name, password, roles })
      const signedIn = await client(undefined)<{ token: string }>('POST', '/v1/auth/login', { email, password })
      if (signedIn.status !== 200) throw new Error(`${name} could not sign in: ${JSON.stringify([made, signedIn])}`)
      const { token } = signedIn.body
      return { id: made.body.id, email, password, token, call: client({ token }) }
    },
    memory() {
      const status = readFileSync(`/proc/${started.pid}/status`, 'utf8')
      const megabytes = (name: string) =>
        Math.round(Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024)
      return { now: megabytes('VmRSS'), peak: megabytes('VmHWM') }
    },
    async stop() {
      if (started.exitCode() === undefined) started.signal('SIGTERM')
      return started.end()
    },
    async kill() {
      started.signal('SIGKILL')
      await started.end()
    },
  }
}

function headersOf(credential: Credential): Record<string, string> {
  if (credential === undefined) return {}
  if ('token' in credential) return { authorization: `Bearer ${credential.token}` }
  return { 'x-api-key': credential.api_key }
}
