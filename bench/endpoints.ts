import { openDatabase } from '../server/src/db/transaction.ts'
import { listGroupsPage } from '../server/src/groups/group-list-store.ts'
import type { Tx, WorkCtx } from '../server/src/kernel/context.ts'
import { findRequestStatus } from '../server/src/requests/request-status-store.ts'
import { readDeciding } from '../server/src/requests/request-store.ts'
import { type PersonsDecision, saveDecision } from '../server/src/requests/transition-store.ts'
import { openPlain } from './begin-commit.ts'
import type { Bench, Effort, Measured } from './bench.ts'
import { startLoad } from './load.ts'
import { findPgbench, measureByPgbench, recordStatements, type Script, scriptOf } from './pgbench.ts'
import { type Contender, measureCalls, measureInRounds, median, type Result } from './rounds.ts'
import { firstNumber, firstPending, idHead, idOf } from './rows.ts'
import type { Person } from './sallyport.ts'
import { openStage, type Stage } from './stage.ts'

const columns = ['pgbench', 'begin … commit', 'the client', 'over HTTP']
const readRow = 'GET /v1/access/requests/{id}'
const listRow = 'GET /v1/groups?limit=50'
const batchRow = 'the write of an approval'
const approveRow = 'POST /v1/requests/{id}/approve'

/** A service's connections for requests, as in `main.ts`. */
const connections = { writes: 8, long: 4 }
const pageLength = 50
/** More approvals than any contender completes in a second. */
const maxApprovals = 8_000

const approvalsIn = (seconds: number) => seconds * maxApprovals

/** How close the service comes to PostgreSQL's own speed, endpoint by endpoint. */
export const endpoints: Bench = {
  summary: 'the most used endpoints, compared with pgbench and with the plain form of a transaction',
  async run(effort, say) {
    const { rounds, seconds } = effort
    // Half of them are for pgbench, which needs to know its own in advance.
    const pending = 2 * approvalsIn(seconds * rounds + 1)
    const stage = await openStage({ read: effort.isMiniature ? 200 : 5_000, pending, groups: 200 })
    const load = await startLoad()
    say('the database and the service are ready')
    try {
      const contenders = [
        ...(await reads(stage, effort)),
        ...(await writes(stage, effort)),
        ...overHttp(stage, effort, load),
      ]
      return tableOf(await measureInRounds(contenders, effort, say), stage, effort, load.byWrk)
    } finally {
      await load.stop()
      await stage.close()
    }
  },
}

const someNumber = (stage: Stage) => firstNumber + Math.floor(Math.random() * stage.rows.read)

async function reads(stage: Stage, effort: Effort): Promise<Contender[]> {
  const { tenant_id } = stage
  const page = { limit: pageLength, after: undefined }
  const one = (tx: Tx) => findRequestStatus(tx, idOf(someNumber(stage)))
  const list = (tx: Tx) => listGroupsPage(tx, {}, page)
  const requested = idOf(firstNumber)
  const read = await recordStatements(tenant_id, (tx) => findRequestStatus(tx, requested))
  const listed = await recordStatements(tenant_id, list)
  const anyNumber = [`\\set number random(${firstNumber}, ${firstNumber + stage.rows.read - 1})`]
  return [
    ...limit(readRow, stage.served, effort, () => scriptOf(tenant_id, anyNumber, read, read, requested)),
    ...both(readRow, stage.served, stage, effort, one),
    ...limit(listRow, stage.served, effort, () => scriptOf(tenant_id, [], listed, listed, requested)),
    ...both(listRow, stage.served, stage, effort, list),
  ]
}

async function writes(stage: Stage, effort: Effort): Promise<Contender[]> {
  const { tenant_id, approver } = stage
  const database = openDatabase(stage.quiet, { writes: 1, long: 1 })
  const sample = await decisionOf(database.tenant(tenant_id), approver, idOf(firstPending)).finally(database.close)
  const requested = sample.requested.id
  const statements = () => recordStatements(tenant_id, (tx) => saveDecision(ctxOf(tx, approver), sample))
  const [once, twice] = [await statements(), await statements()]
  const approve = async (tx: Tx) => {
    const decision = { ...sample, requested: { ...sample.requested, id: idOf(stage.takePending('quiet', 1)) } }
    if ('refused' in (await saveDecision(ctxOf(tx, approver), decision))) throw new Error('an approval changed nothing')
  }
  return [
    ...limit(batchRow, stage.quiet, effort, (seconds) => {
      const each = Math.floor(approvalsIn(seconds) / effort.clients)
      const first = stage.takePending('quiet', each * effort.clients)
      // A client that needs more approvals than it has would use another client's: instead it divides by zero, and reports
      // that.
      const lines = [
        `\\set within 1 / case when :done < ${each} then 1 else 0 end`,
        `\\set number ${first} + :client_id * ${each} + :done`,
        '\\set done :done + 1',
      ]
      const { text, values } = scriptOf(tenant_id, lines, once, twice, requested)
      return { text, values: { ...values, done: '0' } }
    }),
    ...both(batchRow, stage.quiet, stage, effort, approve),
  ]
}

function overHttp(stage: Stage, effort: Effort, load: Awaited<ReturnType<typeof startLoad>>): Contender[] {
  const { port, rows } = stage
  const connections = effort.clients
  const order = {
    port,
    connections,
    ids: { head: idHead, first: firstNumber, count: rows.read, order: 'random' as const },
  }
  const get = (path: [string, string]) => requestOf(stage, stage.owner, 'GET', path)
  const column = 'over HTTP'
  return [
    {
      ...{ row: readRow, column },
      measure: (seconds) => load.measure({ ...order, seconds, request: get(['/v1/access/requests/', '']) }),
    },
    {
      ...{ row: listRow, column },
      measure: (seconds) =>
        load.measure({ ...order, seconds, ids: undefined, request: get([`/v1/groups?limit=${pageLength}`, '']) }),
    },
    {
      ...{ row: approveRow, column },
      async measure(seconds) {
        const count = approvalsIn(seconds)
        const ids = { head: idHead, first: stage.takePending('served', count), count, order: 'once' as const }
        const request = requestOf(stage, stage.approver, 'POST', ['/v1/requests/', '/approve'])
        const perSecond = await load.measure({ ...order, seconds, request, ids })
        // The follow-up work of approvals is not measured, and must not slow the next contender.
        await stage.postponeWork()
        return perSecond
      },
    },
  ]
}

function requestOf(
  { tenant_id, port }: Stage,
  { token }: Person,
  method: string,
  [head, tail]: [string, string],
): [string, string] {
  const headers = [`host: 127.0.0.1:${port}`, `x-tenant-id: ${tenant_id}`, `authorization: Bearer ${token}`]
  return [`${method} ${head}`, [`${tail} HTTP/1.1`, ...headers, '', ''].join('\r\n')]
}

/** PostgreSQL's own speed, if pgbench is installed. */
function limit(
  row: string,
  target: Stage['served'],
  { clients }: Effort,
  script: (seconds: number) => Script,
): Contender[] {
  const pgbench = findPgbench()
  if (pgbench === undefined) return []
  const measure = (seconds: number) => measureByPgbench(pgbench, target, script(seconds), { clients, seconds })
  return [{ row, column: 'pgbench', measure }]
}

/**
 * Access to a tenant's rows, open while it is measured: PostgreSQL does not have enough connections for all contenders at
 * once.
 */
type Way = { tenant(tenant_id: string): unknown; close(): Promise<void> }

function both(
  row: string,
  target: Stage['served'],
  { tenant_id }: Stage,
  { clients }: Effort,
  call: (tx: Tx) => Promise<unknown>,
): Contender[] {
  const by = (column: string, open: () => Promise<Way>): Contender => ({
    ...{ row, column },
    async measure(seconds) {
      const way = await open()
      const tx = way.tenant(tenant_id) as Tx
      try {
        // Parses its statements and warms up its caches.
        await measureCalls(() => call(tx), clients, 0.3)
        return await measureCalls(() => call(tx), clients, seconds)
      } finally {
        await way.close()
      }
    },
  })
  return [
    by('begin … commit', () => openPlain(target, connections.writes + connections.long + 1)),
    by('the client', async () => openDatabase(target, connections)),
  ]
}

function ctxOf(tx: Tx, { id }: Person): WorkCtx {
  return { tx, actor: { kind: 'user', user_id: id, api_key_id: null, scopes: new Set() }, request_id: 'bench' }
}

/** An approval as the endpoint writes it, without the policy decision. */
async function decisionOf(tx: Tx, approver: Person, id: string): Promise<PersonsDecision> {
  const deciding = await readDeciding(tx, id, approver.id)
  if (deciding === undefined) throw new Error('there is no request to approve')
  const { requested, when, version } = deciding
  const word = { allowed: true, mode: null, audit_session: false, notices: [], reasoning: '', governing_rule_id: null }
  const permitted = { ...word, rule_ids: [], held_by_rule_ids: [], errors: [], rule_set_version: version }
  return {
    status: 'approved',
    decided_by: approver.id,
    reasoning: null,
    duration_seconds: null,
    requested,
    when,
    permitted,
  }
}

function tableOf(
  results: readonly Result[],
  stage: Stage,
  { clients, rounds, seconds }: Effort,
  byWrk: boolean,
): Measured {
  const rows = [readRow, listRow, batchRow, approveRow].map((row) => {
    const limit = results.find((result) => result.row === row && result.column === 'pgbench')
    return [
      row,
      ...columns.map((column) =>
        cellOf(
          results.find((one) => one.row === row && one.column === column),
          limit,
        ),
      ),
    ]
  })
  const skipped = results.some(({ column }) => column === 'pgbench')
    ? []
    : ['pgbench was skipped: it is not installed.']
  return {
    columns: ['', ...columns],
    rows,
    notes: [
      `Operations per second, and the share of pgbench in the same round; medians of ${rounds} rounds of ${seconds} s, ${clients} callers at once.`,
      `PostgreSQL ${stage.serverVersion}, embedded, with row-level security, as the service's own role; PostgreSQL, the callers and the service share the machine.`,
      byWrk ? 'wrk called the reads over HTTP.' : 'The bench itself called over HTTP: wrk is not installed.',
      ...skipped,
    ],
  }
}

function cellOf(result: Result | undefined, limit: Result | undefined): string {
  if (result === undefined) return '—'
  const speed = Math.round(median(result.perSecond)).toLocaleString('en')
  if (limit === undefined || limit === result) return speed
  const share = median(result.perSecond.map((perSecond, round) => perSecond / (limit.perSecond[round] ?? 1)))
  return `${speed} (${Math.round(share * 100)} %)`
}
