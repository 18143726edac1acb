import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { checkServerIdentity } from 'node:tls'
import pg from 'pg'
import type { Egress } from '../../kernel/context.ts'
import { TargetError } from '../driver.ts'
import { findPlainFault, nameOfServer, type Settings } from './postgresql-config.ts'
import { asConnectionError, asStatementError } from './server-error.ts'

/** One row: the text of each column, or null. */
export type Row = Readonly<Record<string, string | null | undefined>>

/** Runs one statement with bound values. @throws TargetError */
export type Query = (text: string, values?: readonly (string | readonly string[])[]) => Promise<Row[]>

/** Facts about the server and the role that Sallyport signed in as. */
export type Facts = {
  version: number
  /** The role that Sallyport signed in as. */
  me: string
  me_oid: string
  is_superuser: boolean
}

export type ServerConnection = {
  facts: Facts
  /** A function that runs statements until the signal aborts. */
  queryWith(signal: AbortSignal): Query
  isLost(): boolean
  /** Closes it in an orderly way. */
  end(): void
  /** Destroys it, and aborts any statement on it. */
  destroy(): void
}

const connectWithinMs = 5_000
const goodbyeWithinMs = 1_000
/** The bytes that a server may send for one statement, at most. */
const maxAnswerBytes = 1024 * 1024
const watchEveryMs = 50
const maxAddresses = 3

/** Names resolve only in pg_catalog, so that objects of the same name in the database are never used. */
const sessionOptions = [
  'search_path=pg_catalog',
  'statement_timeout=10000',
  'lock_timeout=3000',
  'idle_in_transaction_session_timeout=15000',
]
  .map((setting) => `-c ${setting}`)
  .join(' ')

/** Returns every value as text: the server's type information is not used. */
const asText = { getTypeParser: () => (value: string | Buffer) => String(value) }

/**
 * Signs in to the server, at an address that the egress guard has checked. When a server sends too much, violates the protocol
 * or does not answer, only its connection is lost.
 * @throws TargetError
 */
export async function openServerConnection(
  settings: Settings,
  egress: Egress,
  signal: AbortSignal,
): Promise<ServerConnection> {
  const server = nameOfServer(settings)
  const plain = await findPlainFault(settings, egress)
  if (plain !== undefined) throw new TargetError('transient', `\`tls\` of ${server} ${plain}`)
  const addresses = await egress.resolve(settings.host).catch((error: NodeJS.ErrnoException) => {
    throw new TargetError(
      'transient',
      error.code === undefined ? error.message : `\`${settings.host}\` cannot be resolved`,
    )
  })
  let last: unknown
  for (const { address } of addresses.slice(0, maxAddresses)) {
    if (signal.aborted) break
    try {
      return await connect(settings, address, signal)
    } catch (error) {
      // The server itself refused, and would refuse at its other addresses too.
      if (error instanceof pg.DatabaseError || error instanceof TargetError) throw asConnectionError(error, server)
      last = error
    }
  }
  throw asConnectionError(last ?? new Error('it did not answer in time'), server)
}

async function connect(settings: Settings, address: string, signal: AbortSignal): Promise<ServerConnection> {
  const { port, database, user, password } = settings
  const client = new pg.Client({
    ...{ host: address, port, database, user, password, ssl: tlsOf(settings) },
    application_name: 'sallyport',
    options: sessionOptions,
    client_encoding: 'UTF8',
    connectionTimeoutMillis: connectWithinMs,
    keepAlive: true,
    types: asText,
  })
  let lost = false
  const lose = () => {
    lost = true
  }
  client.on('error', lose)
  client.on('end', lose)
  endOnMalformedMessage(client)
  const destroy = () => {
    lost = true
    client.connection.stream.destroy()
  }
  const queryWith =
    (waiting: AbortSignal): Query =>
    async (text, values = []) => {
      const query = client.query(text, values.length === 0 ? undefined : [...values])
      try {
        return (await within(query, client, waiting, destroy)).rows as Row[]
      } catch (error) {
        throw asStatementError(error, nameOfServer(settings))
      }
    }
  const end = () => {
    lost = true
    client.end().catch(() => undefined)
    setTimeout(destroy, goodbyeWithinMs).unref()
  }
  try {
    await within(client.connect(), client, signal, destroy)
    return { queryWith, facts: await readFacts(queryWith(signal)), isLost: () => lost, end, destroy }
  } catch (error) {
    destroy()
    throw error
  }
}

function tlsOf({ tls, host, ca }: Settings) {
  if (tls === 'off') return false
  return {
    rejectUnauthorized: true,
    ...(ca !== undefined && { ca }),
    ...(isIP(host) === 0 && { servername: host }),
    // The configured name, not its resolved address.
    checkServerIdentity: (_name: string, certificate: Parameters<typeof checkServerIdentity>[1]) =>
      checkServerIdentity(host, certificate),
  }
}

/** Waits for the work until the caller aborts or the server sends more than allowed. */
async function within<Answer>(
  work: Promise<Answer>,
  client: pg.Client,
  signal: AbortSignal,
  destroy: () => void,
): Promise<Answer> {
  const before = bytesFrom(client)
  const { promise: tooMuch, reject } = Promise.withResolvers<never>()
  const giveUp = (why: string) => {
    reject(new Error(why))
    destroy()
  }
  const watch = setInterval(() => {
    if (bytesFrom(client) - before > maxAnswerBytes)
      giveUp(`it sent more than ${maxAnswerBytes} bytes for one statement`)
  }, watchEveryMs)
  const onAbort = () => giveUp('it did not answer in time')
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    return await Promise.race([tooMuch, work])
  } finally {
    clearInterval(watch)
    signal.removeEventListener('abort', onAbort)
    // The loser of the race must not cause an unhandled rejection.
    work.catch(() => undefined)
  }
}

function bytesFrom({ connection }: pg.Client): number {
  return (connection.stream as Duplex & { bytesRead?: number }).bytesRead ?? 0
}

/** Catches errors from invalid messages: `pg` throws them inside the socket's event, where no caller could catch them. */
function endOnMalformedMessage(client: pg.Client): void {
  const connection = client.connection as unknown as { attachListeners(stream: Duplex): void }
  const attach = connection.attachListeners.bind(connection)
  connection.attachListeners = (stream) => {
    attach(stream)
    const readers = stream.listeners('data') as ((chunk: Buffer) => void)[]
    stream.removeAllListeners('data')
    stream.on('data', (chunk: Buffer) => {
      try {
        for (const read of readers) read(chunk)
      } catch {
        stream.destroy(new Error('it does not speak the PostgreSQL protocol'))
      }
    })
  }
}

async function readFacts(query: Query): Promise<Facts> {
  const [row] = await query(
    `select current_setting('server_version_num') as version, pg_is_in_recovery() as is_standby, r.rolname as me,
        r.oid as me_oid, r.rolsuper as is_superuser
      from pg_roles r where r.rolname = current_user`,
  )
  const version = Number(row?.version)
  const { me, me_oid } = row ?? {}
  if (!(version > 0) || typeof me !== 'string' || typeof me_oid !== 'string') {
    throw new TargetError('transient', 'the server is not PostgreSQL')
  }
  if (row?.is_standby !== 'f') throw new TargetError('transient', 'the server is a standby, which accepts no changes')
  return { version, me, me_oid, is_superuser: row.is_superuser !== 'f' }
}
