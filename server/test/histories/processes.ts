import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConnectionTarget } from '../../src/db/client/connect.ts'
import { keepComplaints } from '../kill/under-fire.ts'
import { type Sallyport, startUnattended, urlOf } from '../support/sallyport.ts'

/** Two processes of the service on one database. */
export type Services = {
  /** The current address of a process: it changes with each start. */
  address(process: number): string
  /** Ends a process abruptly and starts it again; returns when it is ready. */
  killAndStart(process: number): Promise<void>
  /** Errors that they logged, each with its count: complete after `close`. */
  complaints: ReadonlyMap<string, number>
  close(): Promise<void>
}

/** How many processes there are. */
export const processes = 2

/** Starts them on the database that `service` names. */
export async function openServices(service: ConnectionTarget): Promise<Services> {
  const stops: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  }
  const complaints = new Map<string, number>()
  const running: Sallyport[] = []
  const at = (process: number) => running[process] as Sallyport
  // The address changes with each start; the name in tokens must not.
  const same = { PUBLIC_URL: 'http://sallyport.example', SECRET_KEY: randomBytes(32).toString('base64') }
  const env = { DATABASE_URL: urlOf(service), ...same }
  try {
    for (let process = 0; process < processes; process += 1) {
      const data_dir = await mkdtemp(join(tmpdir(), 'sallyport-histories-'))
      stops.push(() => rm(data_dir, { recursive: true, force: true }))
      running.push(await startUnattended(data_dir, env))
      stops.push(async () => {
        await at(process).stop()
        keepComplaints(at(process).output(), complaints)
      })
    }
  } catch (error) {
    await close()
    throw error
  }
  return {
    address: (process) => at(process).base_url,
    async killAndStart(process) {
      const { data_dir, kill, output } = at(process)
      await kill()
      keepComplaints(output(), complaints)
      running[process] = await startUnattended(data_dir, env)
    },
    complaints,
    close,
  }
}
