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
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: PlanNode[]
}

/** The rows of tables that a statement reads, and its plan. */
export type Reading = { rows: number; plan: PlanNode }

/** A `Tx` that also keeps the statements sent through it. */
export function recordingTx(tx: Tx): { tx: Tx; statements: Statement[] } {
  const statements: Statement[] = []
  const read: Tx['read'] = (statement) => {
    statements.push(statement)
    return tx.read(statement)
  }
  const write: Tx['write'] = (batch) => {
    statements.push(...batch)
    return tx.write(batch)
  }
  return { tx: { ...tx, read, write }, statements }
}

/**
 * The rows of tables that PostgreSQL reads for a statement, as the service's role in the tenant. `generic`: by the plan for all values,
 * which it may choose for a statement that is used often.
 */
export async function readingOf(
  db: TestDatabase,
  tenant_id: string,
  statement: Statement,
  generic: boolean,
): Promise<Reading> {
  const client = await connectAlone(db.service)
  try {
    await client.query(`select set_config('app.tenant_id', $1, false)`, [tenant_id])
    await client.query(`set plan_cache_mode = ${generic ? 'force_generic_plan' : 'force_custom_plan'}`)
    await client.query('begin')
    if (statement.in_index_order) await client.query(readInIndexOrder.text)
    await client.query(`prepare measured as ${statement.text}`)
    const values = statement.values.map(literal).join(', ')
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (analyze, timing off, format json) execute measured${values === '' ? '' : `(${values})`}`,
    )
    const plan = rows[0]?.['QUERY PLAN'][0].Plan
    if (plan === undefined) throw new Error('explain answered no plan')
    return { rows: rowsOf(plan), plan }
  } finally {
    await client.end()
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
