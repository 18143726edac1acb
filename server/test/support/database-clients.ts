import { PgConnection, pipelined } from '../../src/db/client/pg-connection.ts'
import type { ConnectionTarget } from '../../src/db/connect.ts'
import { Link } from '../../src/db/door/link.ts'

/** Each client, behind one interface. */
export const clients = {
  'the client on pg': async (target: ConnectionTarget) => {
    const connection = new PgConnection(pipelined(target))
    await connection.connect()
    return connection
  },
  'the client with a wire protocol of its own': (target: ConnectionTarget) => Link.open(target, () => undefined),
}
