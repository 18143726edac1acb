import { appRole } from '../../src/db/roles.ts'
import { type Database, openDatabase } from '../../src/db/transaction.ts'
import { openCluster } from '../failover/cluster.ts'
import { openQuery } from '../failover/query.ts'
import type { Query } from '../kill/acknowledged.ts'
import { makeDatabase } from '../support/database.ts'
import { asRole, makeTemplate, startTestServer, templateDatabase } from '../support/server.ts'
import { openServices, type Services } from './processes.ts'

/** Two processes on a database, which play one history at a time. */
export type Lane = {
  services: Services
  database: Database
  query: Query
  /** Changes the primary of the database, in one of three ways; returns when another one serves, with what the database itself did wrong. Absent where there is one server. */
  failOver?(nth: number): Promise<readonly string[]>
  close(): Promise<void>
}

/** A lane on a PostgreSQL of its own. */
export function openLane(): Promise<Lane> {
  return opening(async (stops) => {
    const { server, stop } = await startTestServer()
    stops.push(stop)
    const { database, asSuperuser: query, service, close } = await makeDatabase(server)
    stops.push(close)
    const services = await openServices(service)
    stops.push(services.close)
    return { services, database, query }
  })
}

/** A lane on a cluster of its own. */
export function openClusterLane(): Promise<Lane> {
  return opening(async (stops) => {
    const cluster = await openCluster()
    stops.push(cluster.close)
    await makeTemplate(cluster.server)
    const { query, close } = openQuery({ ...cluster.server, database: templateDatabase })
    stops.push(close)
    const service = asRole(cluster.server, appRole, 'app', templateDatabase)
    const database = openDatabase(service, { writes: 4, long: 3 })
    stops.push(database.close)
    const services = await openServices(service)
    stops.push(services.close)
    // A planned change; a primary that is killed; one that is stopped until it is replaced, and then continues. Patroni 3.0 can write over
    // the lock of the new primary where the stopped one still believes that it leads: then what the new one acknowledged is lost, and
    // callers see that. The histories are right about it, and it is no fault of the service.
    const ways = [cluster.switchover, cluster.killPrimary, cluster.stopAndContinuePrimary] as const
    return {
      services,
      database,
      query,
      failOver: async (nth) => (await (ways[nth % ways.length] ?? cluster.switchover)()).faults,
    }
  })
}

type Stops = (() => Promise<unknown>)[]

async function opening(open: (stops: Stops) => Promise<Omit<Lane, 'close'>>): Promise<Lane> {
  const stops: Stops = []
  const close = async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  }
  try {
    return { ...(await open(stops)), close }
  } catch (error) {
    await close()
    throw error
  }
}
