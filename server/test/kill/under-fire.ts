import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProvisionerType } from '../../src/provisioners/provisioner.ts'
import { makeDatabase } from '../support/database.ts'
import { endLeasesNow } from '../support/end-leases.ts'
import { type MailPeer, startMailPeer } from '../support/mail-peer.ts'
import type { Exchange } from '../support/recorder.ts'
import { type Sallyport, startUnattended } from '../support/sallyport.ts'
import type { TestServer } from '../support/server.ts'
import { until } from '../support/wait.ts'
import type { Query } from './acknowledged.ts'
import { type Fault, findFaults, findUnderWay } from './consistency.ts'
import { type FieldTarget, openFieldTarget } from './field-target.ts'
import { holdsAtSandbox } from './sandbox-field.ts'
import { startWireProxy, type WireProxy } from './wire-proxy.ts'

/** How the leases of the killed process end: after their real 20 s, or at once, as if these had passed. */
export type Leases = 'real' | 'shortened'

/** The result of one kill or stop. `reached`: its point was reached; otherwise nothing was done. */
export type Outcome = {
  reached: boolean
  faults: Fault[]
  /** Milliseconds until all was at rest again, including the start of a process. */
  convergedMs: number
}

/** A point that is not reached by then counts as never reached. */
export const maxWaitMs = 60_000
const maxConvergenceMs = 60_000

/** The real service as a process, with a proxy between it and the database; it can be killed and restarted. */
export type Victim = {
  proxy: WireProxy
  process(): Sallyport
  /** From its death to the first `ready` of the next process. */
  riseAgain(): Promise<void>
  /** Its last output, if it ended without being killed. */
  lastWords(): string | undefined
}

/** A separate database, the services on it, and the errors that they logged. */
export type Field<Victims extends readonly Victim[]> = {
  database: Awaited<ReturnType<typeof makeDatabase>>['database']
  query: Query
  target: FieldTarget
  /** Receives the mails of all of them. */
  mail: MailPeer
  victims: Victims
  /** The answers that the field's users received since the caller last reset them. */
  exchanges: Exchange[]
  complaints: Map<string, number>
  close(): Promise<void>
}

const marked = 'sallyport-under-fire'
/** The field's own sessions: its server has other databases. */
const sessions = `select state, wait_event, query from pg_stat_activity
  where application_name = $1 and datname = current_database()`

export async function openField<Victims extends readonly Victim[]>(
  server: TestServer,
  count: Victims['length'],
  type: ProvisionerType,
): Promise<Field<Victims>> {
  const { database, asSuperuser, service, close } = await makeDatabase(server)
  const complaints = new Map<string, number>()
  const stops: (() => Promise<unknown>)[] = [close]
  const query = oneAtATime(asSuperuser)
  const target = await openFieldTarget(type, query)
  const mail = await startMailPeer()
  stops.push(target.close, mail.stop)
  const SECRET_KEY = randomBytes(32).toString('base64')
  async function raise(): Promise<Victim> {
    const proxy = await startWireProxy(service)
    const data_dir = await mkdtemp(join(tmpdir(), 'sallyport-kill-'))
    stops.push(() => rm(data_dir, { recursive: true, force: true }), proxy.close)
    const DATABASE_URL = `postgres://sallyport_app:app@127.0.0.1:${proxy.port}/${service.database}?application_name=${marked}`
    // The address changes with each start; the name in its tokens must not.
    const smtp = { SMTP_URL: mail.url, SMTP_TLS: 'never', SMTP_MESSAGES_PER_SECOND: '0' }
    const env = { DATABASE_URL, SECRET_KEY, PUBLIC_URL: 'http://sallyport.example', ...smtp, ...target.env }
    const start = () => startUnattended(data_dir, env)
    let process = await start()
    stops.push(async () => {
      await process.stop()
      keepComplaints(process.output(), complaints)
    })
    return {
      proxy,
      process: () => process,
      lastWords: () => (process.exitCode() === undefined ? undefined : process.output().slice(-2_000)),
      async riseAgain() {
        keepComplaints(process.output(), complaints)
        process = await start()
      },
    }
  }
  const stopAll = async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  }
  const victims: Victim[] = []
  try {
    while (victims.length < count) victims.push(await raise())
  } catch (error) {
    await stopAll()
    throw error
  }
  return {
    database,
    query,
    target,
    mail,
    victims: victims as readonly Victim[] as Victims,
    exchanges: [],
    complaints,
    close: stopAll,
  }
}

/** One connection for many callers, one query at a time. */
function oneAtATime(query: Query): Query {
  let last: Promise<unknown> = Promise.resolve()
  return (text, values) => {
    const next = last.then(() => query<never>(text, values))
    last = next.catch(() => undefined)
    return next
  }
}

/**
 * Waits until nothing is in progress, and returns the faults then; work that is still in progress at the end is a fault too.
 */
export async function converge(query: Query, holds = () => holdsAtSandbox(query)): Promise<Fault[]> {
  let left: string[] = []
  let faults: Fault[] = []
  const atRest = async () => {
    left = await findUnderWay(query)
    if (left.length > 0) return false
    faults = await findFaults(query, await holds())
    // Something may have ended between the two queries; then the faults are read again.
    return faults.length === 0 || (await findUnderWay(query)).length === 0
  }
  await until('everything is at rest', atRest, maxConvergenceMs).catch(() => undefined)
  return [...left.map((what): Fault => ({ kind: 'dangling', what: `not at rest: ${what}` })), ...faults]
}

/**
 * Lets the leases of a killed or stopped process end: in their own time, or at once. For a killed one this waits until its
 * last statement is done; a session that survives its process is a fault.
 */
export async function endLeases(query: Query, leases: Leases, isDead: boolean): Promise<Fault[]> {
  if (leases === 'real') return []
  let left: Record<string, unknown>[] = []
  const gone = async () => {
    left = await query(sessions, [marked])
    return left.length === 0
  }
  if (isDead)
    await until('the last statement of the dead process is done', gone, maxConvergenceMs).catch(() => undefined)
  await endLeasesNow(query)
  return left.map((row) => ({ kind: 'dangling', what: `a session of the dead process: ${JSON.stringify(row)}` }))
}

/** Counts the errors in a service's output. */
export function keepComplaints(output: string, complaints: Map<string, number>): void {
  for (const line of output.split('\n').filter((text) => text.includes('"level":"error"'))) {
    const { msg, err } = JSON.parse(line) as { msg: string; err?: { message: string } }
    const complaint = `${msg}: ${err?.message ?? ''}`
    complaints.set(complaint, (complaints.get(complaint) ?? 0) + 1)
  }
}
