import { type ConnectionTarget, clientOn } from '../server/src/db/client/connect.ts'
import type { Statement, Tx } from '../server/src/kernel/context.ts'

/** The part of `tx` that the benched stores use. */
export type PlainTx = Pick<Tx, 'tenant_id' | 'read' | 'write'>

/**
 * The plain form of a transaction, as a baseline: begin, set_config, the statements and commit as queries of `pg`, all sent at
 * once, on `size` connections.
 */
export async function openPlain(target: ConnectionTarget, size: number) {
  const clients = await Promise.all(
    Array.from({ length: size }, async () => {
      const client = clientOn({ ...target, pipeline: true }, 'sallyport-bench')
      await client.connect()
      return client
    }),
  )
  const idle = [...clients]
  const waiting: ((client: (typeof clients)[number]) => void)[] = []

  async function inOneTransaction(tenant_id: string, statements: readonly Statement[]): Promise<unknown[][]> {
    const client = idle.pop() ?? (await new Promise<(typeof clients)[number]>((resolve) => waiting.push(resolve)))
    const query = (text: string, values: readonly unknown[] = []) =>
      client.query({ name: nameOf(text), text, values: [...values] })
    try {
      const answers = await Promise.all([
        query('begin'),
        query(`select set_config('app.tenant_id', $1, true)`, [tenant_id]),
        ...statements.map(({ text, values }) => query(text, values)),
        query('commit'),
      ])
      return answers.slice(2, -1).map(({ rows }) => rows)
    } finally {
      const next = waiting.shift()
      if (next === undefined) idle.push(client)
      else next(client)
    }
  }

  return {
    tenant: (tenant_id: string): PlainTx => ({
      tenant_id,
      read: async <Row>(statement: Statement<Row>) => (await inOneTransaction(tenant_id, [statement]))[0] as Row[],
      write: (async (statements: readonly Statement[]) => inOneTransaction(tenant_id, statements)) as Tx['write'],
    }),
    close: async () => {
      await Promise.all(clients.map((client) => client.end()))
    },
  }
}

const names = new Map<string, string>()

function nameOf(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = `plain_${names.size}`
  names.set(text, name)
  return name
}
