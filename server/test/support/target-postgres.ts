import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type ConnectionTarget, connectAlone } from '../../src/db/client/connect.ts'
import { startEmbedded } from '../../src/embedded-postgres/start.ts'
import { freePort } from './free-port.ts'
import { skipPostgres15, startPostgres15 } from './system-postgres.ts'

/** A customer's PostgreSQL: a separate server, reached by TCP, which requires a password of every user. */
export type TargetPostgres = {
  /** The host for Sallyport and for users. */
  host: string
  port: number
  major: number
  /** What it has logged; only of 18. */
  log(): Promise<string>
  /** The password of its superuser, `postgres`. */
  password: string
  asSuperuser<Row extends Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>
  /** Signs in with a password, as a user does; the caller ends the connection. */
  signIn(user: string, password: string, database?: string): Promise<pg.Client>
  /**
   * Makes it unreachable or freezes it: open connections are closed, or receive nothing; returns a function that undoes this.
   */
  goAway(how: 'refuses' | 'hangs'): Promise<() => Promise<void>>
  stop(): Promise<void>
}

/** The database of the customer's tables. */
export const targetDatabase = 'shop'

/** The versions installed on this machine. */
export const targetVersions: readonly number[] = skipPostgres15 === false ? [18, 15] : [18]

/** `settings`: of the server itself, which read them at their start; only for 18. */
export async function startTargetPostgres(
  major: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<TargetPostgres> {
  const server = major === 15 ? await startOn15() : await startOn18(settings)
  const first = await connectAlone(server.admin)
  await first.query(`create database ${targetDatabase}`)
  await first.end()
  const admin = await connectAlone({ ...server.admin, database: targetDatabase })
  admin.on('error', () => undefined)
  const proxy = await openProxy(server.port)
  const people = new Set<pg.Client>()
  return {
    host: '127.0.0.1',
    port: proxy.port,
    major,
    log: server.log,
    password: String(server.admin.password ?? ''),
    asSuperuser: async <Row extends Record<string, unknown>>(text: string, values: unknown[] = []) =>
      (await admin.query<Row>(text, values)).rows,
    async signIn(user, password, database = targetDatabase) {
      const client = new pg.Client({ host: '127.0.0.1', port: server.port, user, password, database })
      client.on('error', () => undefined)
      await client.connect()
      people.add(client)
      return client
    },
    goAway: proxy.goAway,
    async stop() {
      await proxy.close()
      await Promise.allSettled([...people].map((client) => client.end()))
      await admin.end()
      await server.stop()
    },
  }
}

/** One server of each version. Call it before a file's first suite: a top-level await between two suites may end the file. */
export function startTargets(): Promise<TargetPostgres[]> {
  return Promise.all(targetVersions.map((major) => startTargetPostgres(major)))
}

type Started = { admin: ConnectionTarget; port: number; log(): Promise<string>; stop(): Promise<void> }

async function startOn18(settings: Readonly<Record<string, string>>): Promise<Started> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sallyport-target-'))
  const onCrash = (reason: string) => console.error(reason)
  const start = () => startEmbedded({ dataDir, log: () => undefined, onCrash, transport: 'loopback' })
  let embedded = await start()
  if (Object.keys(settings).length > 0) {
    const { host, port, superuser: user, password = '' } = embedded
    const first = await connectAlone({ host, port, user, password, database: 'postgres' })
    for (const [name, value] of Object.entries(settings)) await first.query(`alter system set ${name} = ${value}`)
    await first.end()
    await embedded.stop()
    embedded = await start()
  }
  const { host, port, superuser: user, password = '' } = embedded
  return {
    admin: { host, port, user, password, database: 'postgres' },
    port,
    log: () => readFile(join(dataDir, 'postgres.log'), 'utf8'),
    async stop() {
      await embedded.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function startOn15(): Promise<Started> {
  const port = await freePort()
  const { superuser, stop } = await startPostgres15(port)
  return { admin: superuser, port, log: () => Promise.resolve(''), stop }
}

/** A proxy in front of a port, which can be closed. */
async function openProxy(port: number) {
  const sockets = new Set<Socket>()
  let isFrozen = false
  const server = createServer((near) => {
    sockets.add(near)
    near.on('error', () => undefined).on('close', () => sockets.delete(near))
    if (isFrozen) return
    const far = connect(port, '127.0.0.1')
    far.on('error', () => near.destroy())
    near.on('close', () => far.destroy())
    near.pipe(far).pipe(near)
  })
  const listen = async (at: number) => {
    server.listen(at, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const own = await listen(0)
  const shut = async () => {
    const closed = once(server, 'close')
    server.close()
    cut()
    await closed
  }
  return {
    port: own,
    async goAway(how: 'refuses' | 'hangs') {
      if (how === 'refuses') await shut()
      else cut()
      isFrozen = how === 'hangs'
      return async () => {
        isFrozen = false
        cut()
        if (how === 'refuses') await listen(own)
      }
    },
    close: shut,
  }
}
