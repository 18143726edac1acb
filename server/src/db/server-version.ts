import { sql } from './sql.ts'
import type { UnrestrictedTx } from './transaction.ts'

/** The server of a database: its version, such as `18.4`, the name of the database, and where it listens: an address, or `a socket`. */
export type DescribedServer = { version: string; name: string; host: string }

export async function describeServer(service: UnrestrictedTx): Promise<DescribedServer> {
  const [row] = await service.read(sql<DescribedServer>`
    select split_part(current_setting('server_version'), ' ', 1) as version, current_database() as name,
      coalesce(host(inet_server_addr()) || ':' || inet_server_port(), 'a socket') as host`)
  if (row === undefined) throw new Error('the database does not say which server it is')
  return row
}
