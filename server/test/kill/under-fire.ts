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
import { type Fault, findFaults, findUnderWay } from './books.ts'
import { type FieldTarget, openFieldTarget } from './field-target.ts'
import type { Look } from './given-word.ts'
import { holdsAtSandbox } from './sandbox-field.ts'
import { startWireProxy, type WireProxy } from './wire-proxy.ts'

/** How the leases of the dead end: after their real 20 s, or at once, as if these had passed. */
export type Leases = 'real' | 'shortened'

/** How one act of violence went. `reached`: its point came; without it nothing was done. */
export type Outcome = {
  reached: boolean
  faults: Fault[]
  /** Milliseconds from the act until all was at rest again, the start of a process included. */
  convergedMs: number
}

/** A point that has not come by then is none. */
export const maxWaitMs = 60_000
const maxConvergenceMs = 60_000

/** The real service as a process, with a listener between it and the database; it can die and rise again. */
export type Victim = {
  proxy: WireProxy
  process(): Sallyport
  /** From its death to the first `ready` of the next process. */
  riseAgain(): Promise<void>
  /** Its last words, where nobody killed it and it ended all the same. */
  lastWords(): string | undefined
}

/** A database of its own, so many victims on it, and the errors that they wrote down. */
export type Field<Victims extends readonly Victim[]> = {
  database: Awaited<ReturnType<typeof makeDatabase>>['database']
  look: Look
  target: FieldTarget
  /** Where the mails of all of them go. */
  mail: MailPeer
  victims: Victims
  /** What the people of the field were answered since the last `forget`. */
  exchanges: Exchange[]
  complaints: Map<string, number>
  close(): Promise<void>
}

const marked = 'sallyport-under-fire'
/** Those of the field: its server has other databases. */
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
  const look = oneAtATime(asSuperuser)
  const target = await openFieldTarget(type, look)
  const mail = await startMailPeer()
  stops.push(target.close, mail.stop)
  const SECRET_KEY = randomBytes(32).toString('base64')
  async function raise(): Promise<Victim> {
    const proxy = await startWireProxy(service)
    const data_dir = await mkdtemp(join(tmpdir(), 'sallyport-kill-'))
    stops.push(() => rm(data_dir, { recursive: true, force: true }), proxy.close)
    const DATABASE_URL = `postgres://sallyport_app:app@127.0.0.1:${proxy.port}/${service.database}?application_name=${marked}`
    // Its address moves with each start; the name that its tokens carry does not.
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
    look,
    target,
    mail,
    victims: victims as readonly Victim[] as Victims,
    exchanges: [],
    complaints,
    close: stopAll,
  }
}

/** One connection, many who ask: in turn. */
function oneAtATime(look: Look): Look {
  let last: Promise<unknown> = Promise.resolve()
  return (text, values) => {
    const next = last.then(() => look<never>(text, values))
    last = next.catch(() => undefined)
    return next
  }
}

/** Waits until nothing is under way, and answers what is wrong then; what is still under way at the end is wrong too. */
export async function converge(look: Look, holds = () => holdsAtSandbox(look)): Promise<Fault[]> {
  let left: string[] = []
  let faults: Fault[] = []
  const atRest = async () => {
    left = await findUnderWay(look)
    if (left.length > 0) return false
    faults = await findFaults(look, await holds())
    // Something may have come to its end in between; then the books are read again.
    return faults.length === 0 || (await findUnderWay(look)).length === 0
  }
  await until('everything is at rest', atRest, maxConvergenceMs).catch(() => undefined)
  return [...left.map((what): Fault => ({ kind: 'dangling', what: `not at rest: ${what}` })), ...faults]
}

/**
 * Lets the leases of a process that is dead, or asleep, end: in their own time, or at once. For a dead one that is once the
 * last that it sent is done; a session that outlives it is a fault.
 */
export async function endLeases(look: Look, leases: Leases, isDead: boolean): Promise<Fault[]> {
  if (leases === 'real') return []
  let left: Record<string, unknown>[] = []
  const gone = async () => {
    left = await look(sessions, [marked])
    return left.length === 0
  }
  if (isDead) await until('what the dead process sent is done', gone, maxConvergenceMs).catch(() => undefined)
  await endLeasesNow(look)
  return left.map((row) => ({ kind: 'dangling', what: `a session of the dead process: ${JSON.stringify(row)}` }))
}

function keepComplaints(output: string, complaints: Map<string, number>): void {
  for (const line of output.split('\n').filter((text) => text.includes('"level":50'))) {
    const { msg, err } = JSON.parse(line) as { msg: string; err?: { message: string } }
    const complaint = `${msg}: ${err?.message ?? ''}`
    complaints.set(complaint, (complaints.get(complaint) ?? 0) + 1)
  }
}
