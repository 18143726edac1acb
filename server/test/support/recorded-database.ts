import type { Database } from '../../src/db/transaction.ts'
import type { Statement } from '../../src/kernel/context.ts'
import { recordingTx } from './rows-read.ts'

/** A statement, and the role that sent it. */
export type Sent = { statement: Statement; as: 'tenant' | 'work' }

/** A layer between the service and its database that keeps every statement of the service and of its workers. */
export function recordingOf(keep: (sent: Sent) => void): (database: Database) => Database {
  const recorded = (tx: ReturnType<Database['tenant']>, as: Sent['as']) => {
    const { tx: through, statements } = recordingTx(tx)
    const drain = () => statements.splice(0).forEach((statement) => void keep({ statement, as }))
    const read: typeof tx.read = (statement) => through.read(statement).finally(drain)
    const write: typeof tx.write = (batch) => through.write(batch).finally(drain)
    const interactive: typeof tx.interactive = (work) => tx.interactive((inside) => work(recorded(inside, as)))
    return { ...tx, read, write, interactive }
  }
  return (database) => {
    const work = recorded(
      { ...database.work, tenant_id: '', interactive: () => Promise.reject(new Error('no tenant')) },
      'work',
    )
    return { ...database, tenant: (id) => recorded(database.tenant(id), 'tenant'), work }
  }
}
