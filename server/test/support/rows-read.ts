import { connectAlone } from '../../src/db/client/connect.ts'
import { readInIndexOrder } from '../../src/db/transaction.ts'
import type { Statement, Tx } from '../../src/kernel/context.ts'
import type { TestDatabase } from './database.ts'

type PlanNode = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: PlanNode[]
}

/** What a statement reads: rows of tables, and pages of tables and indexes, each as often as it is read; and its plan. */
export type Reading = { rows: number; pages: number; plan: PlanNode }

/** A `Tx` that also keeps the statements sent through it, as they are planned. */
export function recordingTx(tx: Tx): { tx: Tx; statements: Statement[] } {
  const statements: Statement[] = []
  const read: Tx['read'] = (statement) => {
    statements.push(statement)
    return tx.read(statement)
  }
  const write: Tx['write'] = (batch) => {
    statements.push(...batch.map((statement): Statement => ({ ...statement, planned_once: true })))
    return tx.write(batch)
  }
  return { tx: { ...tx, read, write }, statements }
}

/**
 * What PostgreSQL reads for a statement, as the service's role in the tenant. `generic`: by the plan for all values, which it may choose for a
 * statement that is used often.
 */
export async function readingOf(
  db: Pick<TestDatabase, 'service'>,
  tenant_id: string,
  statement: Statement,
  generic: boolean,
): Promise<Reading> {
  const reader = await openReader(db, tenant_id)
  return reader.readingOf(statement, generic).finally(reader.close)
}

/** The same for many statements, on one connection. */
export async function openReader({ service }: Pick<TestDatabase, 'service'>, tenant_id: string) {
  const client = await connectAlone(service)
  await client.query(`select set_config('app.tenant_id', $1, false)`, [tenant_id])
  const prepared = new Map<string, string>()

  async function nameOf({ text }: Statement): Promise<string> {
    const known = prepared.get(text)
    if (known !== undefined) return known
    const name = `measured_${prepared.size}`
    await client.query(`prepare ${name} as ${text}`)
    prepared.set(text, name)
    return name
  }

  async function read(statement: Statement, generic: boolean): Promise<Reading> {
    await client.query(`set local plan_cache_mode = ${generic ? 'force_generic_plan' : 'force_custom_plan'}`)
    const order = statement.in_index_order
    if (order !== undefined) await client.query(readInIndexOrder[`${order}`].text)
    const name = await nameOf(statement)
    const values = statement.values.map(literal).join(', ')
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (analyze, buffers, timing off, format json) execute ${name}${values === '' ? '' : `(${values})`}`,
    )
    const plan = rows[0]?.['QUERY PLAN'][0].Plan
    if (plan === undefined) throw new Error('explain answered no plan')
    return { rows: rowsOf(plan), pages: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], plan }
  }

  return {
    readingOf: async (statement: Statement, generic: boolean): Promise<Reading> => {
      await client.query('begin')
      return read(statement, generic).finally(() => client.query('rollback'))
    },
    close: () => client.end(),
  }
}

function rowsOf(node: PlanNode): number {
  const own =
    (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)) *
    node['Actual Loops']
  const below = (node.Plans ?? []).reduce((sum, child) => sum + rowsOf(child), 0)
  return below + (node['Relation Name'] === undefined ? 0 : own)
}

/** The plan, a line for each node. */
export function outline(node: PlanNode, depth = 0): string {
  const { Plans: below = [] } = node
  const name = [node['Node Type'], node['Relation Name'] ?? '', node['Index Name'] ?? ''].join(' ').trim()
  const rows = `${node['Actual Rows']} × ${node['Actual Loops']}, ${node['Rows Removed by Filter'] ?? 0} removed`
  return [`${'  '.repeat(depth)}${name}: ${rows}`, ...below.map((child) => outline(child, depth + 1))].join('\n')
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return literal(`{${value.join(',')}}`)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return `'${String(value).replaceAll("'", "''")}'`
}
