import type { ConnectionTarget } from '../server/src/db/client/connect.ts'
import { readRunningEmbedded } from '../server/src/embedded-postgres/start.ts'

/** The embedded database of a service that runs, reached beside it. */
export async function embeddedTarget(data_dir: string): Promise<ConnectionTarget> {
  const endpoint = await readRunningEmbedded(data_dir)
  if (endpoint === undefined) throw new Error('the embedded database does not run')
  const { host, port, superuser: user, password } = endpoint
  return { host, port, user, database: 'sallyport', ...(password && { password }) }
}
