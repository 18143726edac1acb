import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { connectAlone } from '../../src/db/client/connect.ts'
import { workRole } from '../../src/db/roles.ts'
import { planForAllValues } from '../../src/db/transaction.ts'
import { openHouse } from '../support/house.ts'
import { growingTables, keepFromAutovacuum, keepLives } from '../support/multiply-lives.ts'
import { notifyAll } from '../support/notify-all.ts'
import { recordingOf, type Sent } from '../support/recorded-database.ts'
import { requestStage } from '../support/request-stage.ts'
import { startWorkers } from '../support/workers.ts'

/** A tenant whose lives are multiplied, and the statements of one life. */
async function openLives() {
  const sent = new Map<string, Sent>()
  const recording = recordingOf((one) => sent.set(`${one.as} ${one.statement.text}`, one))
  const opened = await openHouse({}, recording)
  const house = { ...opened, database: recording(opened.database) }
  const on = await requestStage(house, 'a life cycle')
  await on.rule('@approval_mode("auto") permit (principal, action == Action::"ReadOnly", resource);')
  await on.rule('permit (principal, action == Action::"Administrator", resource);')
  await on.rule('permit (principal in Role::"approver", action == Action::"approve", resource);')
  await keepFromAutovacuum(house.asSuperuser)
  await live(house, on)
  sent.clear()
  await live(house, on)
  // That of `deliverAll` itself, by which it waits for other tests.
  const statements = [...sent.values()].filter(({ statement }) => !statement.text.includes('order by event.xid desc'))
  const copy = await keepLives(house.asSuperuser, on.tenant_id, { of_events: 5 })
  let copied = 0
  return {
    statements,
    /** Until there are so many more grants. */
    async growTo(grants: number) {
      const last = Math.ceil(grants / grantsOfLives)
      await copy(oldest - last + 1, oldest - copied)
      copied = last
    },
    analyze: () => house.asSuperuser(`vacuum analyze ${growingTables.join(', ')}`),
    async requireIndexes() {
      const scans: string[] = []
      const tables = await tablesWithRows(house)
      for (const one of statements) {
        for (const scan of scansOf(await planOf(house, on.tenant_id, one), tables))
          scans.push(`${one.as}: ${scan}\n    of ${one.statement.text.replaceAll(/\s+/g, ' ').slice(0, 300)}`)
      }
      assert.deepEqual(scans, [])
    },
  }
}

type House = Awaited<ReturnType<typeof openHouse>>

/** The number of the first copy, which is the oldest. */
const oldest = 30_000

/** Twice two lives. */
const grantsOfLives = 4

/** Asked for, approved, active, revoked or expired, gone, and everybody notified. */
async function live(house: House, on: Awaited<ReturnType<typeof requestStage>>): Promise<void> {
  const { stop } = startWorkers(house)
  const [byRule, byPerson] = [on.account('111122223333'), on.account('444455556666', { action: 'Administrator' })]
  const requests = [await on.ask(byRule), await on.approve(await on.ask(byPerson))]
  for (const request of requests) await on.grantsAre(request, 'active', 'successful')
  const [first, second] = (await Promise.all(requests.map(on.grantsOf))).flat()
  assert.ok(first && second)
  const revoked = await on.call(on.people.user, 'POST', `/v1/grants/${first.id}/revoke`, {})
  assert.equal(revoked.status, 200, revoked.text)
  await house.asSuperuser('update access_grant set expires_at = clock_timestamp() where id = $1', [second.id])
  await house.asSuperuser(
    `update entitlement set next_look_at = clock_timestamp()
    where id = (select entitlement_id from access_grant where id = $1)`,
    [second.id],
  )
  await on.grantsAre(requests[0] ?? '', 'revoked', 'deprovisioned')
  await on.grantsAre(requests[1] ?? '', 'expired', 'deprovisioned')
  await stop()
  await notifyAll(house)
}

type Node = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  'Recheck Cond'?: string
  'Subplan Name'?: string
  Plans?: Node[]
}

/** The indexes of the rows alone that wait or are live now, whatever has passed. */
const ofWhatWaits = /_(due|live|pending|inbox)_ix$/

/** The tables that grow, and of the partitions of events those in which they are. */
async function tablesWithRows({ asSuperuser }: House): Promise<ReadonlySet<string>> {
  const rows = await asSuperuser<{ name: string }>(
    `select relid::regclass::text as name from pg_partition_tree('event')
      where pg_relation_size(relid) * 10 > (select max(pg_relation_size(relid)) from pg_partition_tree('event'))`,
  )
  return new Set([...growingTables, ...rows.map(({ name }) => name)])
}

/** The nodes that read all rows of a tenant in one of these tables: by no index, or by the tenant alone. */
function scansOf(node: Node, tables: ReadonlySet<string>): string[] {
  const below = (node.Plans ?? []).flatMap((one) => scansOf(one, tables))
  const table = node['Relation Name']
  if (table === undefined || !tables.has(table) || !node['Node Type'].endsWith('Scan')) return below
  const condition = node['Index Cond'] ?? node['Recheck Cond'] ?? ''
  const others = condition.replaceAll(/\(*tenant_id = [^()]*(\([^()]*\)[^()]*)*\)*/g, '').replaceAll(/[() ]|AND/g, '')
  const isWhole = others === '' && !ofWhatWaits.test(node['Index Name'] ?? '')
  return isWhole ? [`${node['Node Type']} ${table} ${node['Index Name'] ?? ''} ${condition}`, ...below] : below
}

async function planOf({ service }: House, tenant_id: string, { statement, as }: Sent): Promise<Node> {
  const client = await connectAlone(service)
  try {
    if (as === 'work') await client.query(`set role ${workRole}`)
    await client.query(`select set_config('app.tenant_id', $1, false)`, [tenant_id])
    await client.query('begin')
    await client.query(statement.planned_once ? planForAllValues.text : 'set plan_cache_mode = force_generic_plan')
    await client.query(`prepare planned as ${statement.text}`)
    const values = statement.values.map(() => 'null').join(', ')
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
      `explain (format json) execute planned${values === '' ? '' : `(${values})`}`,
    )
    const plan = rows[0]?.['QUERY PLAN'][0].Plan
    assert.ok(plan)
    return plan
  } finally {
    await client.end()
  }
}

/** In small steps, since PostgreSQL is tempted at some sizes and not at others. To read fewer as a whole is right. */
const few = Array.from({ length: 12 }, (_, step) => Math.round(400 * 1.2 ** step))
suite(`with ${few.at(0)} to ${few.at(-1)} grants of one tenant, the statements of a life cycle read no whole table`, async () => {
  const lives = await openLives()
  for (const grants of few)
    test(`with ${grants} of them`, async () => {
      await lives.growTo(grants)
      await lives.analyze()
      await lives.requireIndexes()
    })
})

const many = 100_000
suite(`with ${many} grants of one tenant, the statements of a life cycle read no whole table`, async () => {
  const lives = await openLives()
  test('without statistics', async () => {
    await lives.growTo(many)
    await lives.requireIndexes()
  })
  test('with statistics', async () => {
    await lives.analyze()
    await lives.requireIndexes()
  })
})
