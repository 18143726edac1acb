import type { Database, UnrestrictedTx } from '../../src/db/transaction.ts'
import type { RowsOf, Statement, Tx } from '../../src/kernel/context.ts'

/** The same database; each statement of a tenant, of the service or of the work role first passes `rewrite`. */
export function rewrittenDatabase(database: Database, rewrite: (statement: Statement) => Statement): Database {
  const rewrittenClient = <Client extends UnrestrictedTx>(inner: Client): Client => ({
    ...inner,
    read: <Row>(statement: Statement<Row>) => inner.read(rewrite(statement) as Statement<Row>),
    write: <const Statements extends readonly Statement[]>(statements: Statements) =>
      inner.write(statements.map(rewrite)) as Promise<RowsOf<Statements>>,
  })
  const rewrittenTx = (inner: Tx): Tx => ({
    ...rewrittenClient(inner),
    interactive: (work) => inner.interactive((tx) => work(rewrittenTx(tx))),
  })
  return {
    ...database,
    tenant: (tenant_id) => rewrittenTx(database.tenant(tenant_id)),
    work: rewrittenClient(database.work),
    service: rewrittenClient(database.service),
  }
}
