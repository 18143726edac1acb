import type { ConnectionTarget } from '../server/src/db/client/connect.ts'
import type { Database } from './ends.ts'
import type { Asker } from './houses.ts'
import type { Keyed } from './keyed-call.ts'

/** A tenant: the people who ask in it, its owner, and one of its policies. */
export type CrowdsTenant = { tenant_id: string; askers: readonly Asker[]; owner: Keyed; policy_id: string }

/** A service that runs, and its database. */
export type Running = { port: number; target: ConnectionTarget; database: Database }
