import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { jsonSchemaOf } from '../../src/http/schema.ts'
import type { Statement } from '../../src/kernel/context.ts'
import { newId } from '../../src/kernel/id.ts'
import { openHouse, operations } from '../support/house.ts'
import { seedManyEvents } from '../support/many-events.ts'
import { seedManyListedGrants } from '../support/many-listed-grants.ts'
import { seedManyOfEach } from '../support/many-of-each.ts'
import { multiplyLives } from '../support/multiply-lives.ts'
import { recordingOf } from '../support/recorded-database.ts'
import { requestStage } from '../support/request-stage.ts'
import { openReader, outline } from '../support/rows-read.ts'
import { startWorkers } from '../support/workers.ts'
import { queriesOf, shortLists, type TriedList, triedLists } from './tried-lists.ts'

/** How many requests, and how many grants, there are. */
const count = 100_000
/** How many rows each other list has: four times what a page may read. */
const others = 10_000

/** What a page of 50 may read, by one filter and by two: names and facts to each row, and rows that are tested and do not pass. */
const most = { one: { rows: 2_600, pages: 3_500 }, two: { rows: 2_600, pages: 12_000 } }

let sent: Statement[] = []
const house = await openHouse(
  {},
  recordingOf(({ statement }) => sent.push(statement)),
)
const { asSuperuser } = house
const on = await requestStage(house, 'lists')
const { owner, people, tenant_id } = on

/** Two lives: one was revoked, the other is active. */
async function live(): Promise<void> {
  await on.rule('@approval_mode("auto") permit (principal, action == Action::"ReadOnly", resource);')
  await on.rule('permit (principal, action == Action::"Administrator", resource);')
  await on.rule('permit (principal in Role::"approver", action == Action::"approve", resource);')
  const { stop } = startWorkers(house)
  const byPerson = on.account('444455556666', { action: 'Administrator' })
  const requests = [await on.ask(on.account('111122223333')), await on.approve(await on.ask(byPerson))]
  for (const request of requests) await on.grantsAre(request, 'active', 'successful')
  const [grant] = await on.grantsOf(requests[1] ?? '')
  await on.call(people.user, 'POST', `/v1/grants/${grant?.id}/revoke`, {})
  await on.grantsAre(requests[1] ?? '', 'revoked', 'deprovisioned')
  await stop()
}

/** Gives the five oldest requests, and grants of each status, values that no others have. */
async function makeRare(provisioner: string): Promise<void> {
  const oldest = (table: string, more = 'true') =>
    `(select id from ${table} where tenant_id = $1 and ${more} order by created_at limit 5)`
  await asSuperuser('set session_replication_role = replica')
  await asSuperuser(
    `update access_request set status = 'denied', resource_type = 'cloud_db_instance', resource_id = 'rare',
      approval_mode = 'require', break_glass = true,
      requester_id = $2, decided_by = $3 where tenant_id = $1 and id in ${oldest('access_request')}`,
    [tenant_id, people.auditor.user_id, owner.user_id],
  )
  await asSuperuser(
    `update access_grant set status = 'failed', provisioning_status = 'failed', resource_type = 'cloud_db_instance',
      resource_id = 'rare', action = 'Rare', user_id = $2, served_by = $3
      where tenant_id = $1 and id in ${oldest('access_grant', `status = 'revoked'`)}`,
    [tenant_id, people.auditor.user_id, provisioner],
  )
  await asSuperuser(
    `update access_grant set drifted = true
      where tenant_id = $1 and id in ${oldest('access_grant', `status = 'active'`)}`,
    [tenant_id],
  )
  await asSuperuser('reset session_replication_role')
  await addWords()
}

async function addWords(): Promise<void> {
  for (const [words, id, table] of [
    ['request_word', 'request_id', 'access_request'],
    ['grant_word', 'grant_id', 'access_grant'],
  ] as const) {
    await asSuperuser(
      `insert into ${words} (tenant_id, ${id}, word)
        select tenant_id, id, case when resource_id = 'rare' then 'rare' else 'usual' end from ${table}
        where tenant_id = $1 on conflict do nothing`,
      [tenant_id],
    )
  }
}

await live()
await multiplyLives(asSuperuser, tenant_id, count / 2, { of_events: 2 })
const [few, provisioner] = [newId(), newId()]
await addWords()
const seeded = await seedManyOfEach(
  asSuperuser,
  { tenant_id, owner: owner.user_id, user: people.user.user_id, few },
  others,
)
// Others, whose rows have other values.
await seedManyListedGrants(asSuperuser, 1_000)
await seedManyEvents(asSuperuser, 1_000)
const [recent] = await asSuperuser<{ id: string; subject_id: string }>(
  'select id, subject_id from event where tenant_id = $1 order by xid desc, seq desc offset 3000 limit 1',
  [tenant_id],
)
const lists = triedLists({
  ...{ owner: owner.user_id, user: people.user.user_id, approver: people.approver.user_id },
  ...{ auditor: people.auditor.user_id, provisioner, few, ...seeded, recent: recent?.id ?? '' },
})

const paged = Object.values(operations).filter(
  ({ method, query }) => method === 'GET' && query !== undefined && 'properties' in query,
)
const parametersOf = (operation: (typeof paged)[number]) =>
  operation.query === undefined ? {} : (jsonSchemaOf(operation.query).properties ?? {})
const notFilters = ['cursor', 'limit', 'sort']
const filtersOf = (operation: (typeof paged)[number]) =>
  Object.keys(parametersOf(operation)).filter((name) => !notFilters.includes(name))

test('each filter of each list is tried', () => {
  const expected = paged
    .filter((operation) => !(operation.path in shortLists) && filtersOf(operation).length > 0)
    .map((operation) => [operation.path, filtersOf(operation).toSorted()])
  const tried = expected.map(([path]) => [path, Object.keys(lists[String(path)]?.filters ?? {}).toSorted()])
  assert.deepEqual(tried, expected)
})

type Tried = { url: string; bound: keyof typeof most; statements: Statement[] }

/** Calls the list once with each query, and keeps the statements that read its first pages. */
async function statementsOf(path: string, list: TriedList): Promise<Tried[]> {
  const operation = paged.find((one) => one.path === path.replace(/ .*/, ''))
  assert.ok(operation, `${path} is no list`)
  const caller = list.as === 'user' ? people.user : owner
  const orders = parametersOf(operation).sort?.enum ?? []
  const { one, two } = queriesOf(list, orders.map(String))
  const tried: Tried[] = []
  const bare = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => list.params?.[name] ?? '')
  for (const [bound, queries] of [['one', one] as const, ['two', two] as const]) {
    for (const query of queries) {
      const url = `${bare}?${new URLSearchParams(query)}`
      sent = []
      const reply = await on.call(caller, 'GET', url)
      assert.equal(reply.status, 200, `${url}: ${reply.text}`)
      const cursor = reply.body.next_cursor
      if (bound === 'one' && typeof cursor === 'string') {
        await on.call(caller, 'GET', `${url}&cursor=${encodeURIComponent(cursor)}`)
      }
      tried.push({ url, bound, statements: sent.slice(0, 6) })
    }
  }
  return tried
}

const tried: Tried[] = []
for (const [path, list] of Object.entries(lists)) tried.push(...(await statementsOf(path, list)))
// What admits a call is the same for all of them.
const admitting = tried
  .map(({ statements }) => new Set(statements.map(({ text }) => text)))
  .reduce((all, some) => all.intersection(some))

async function requireBounded(isRead: (statement: Statement) => boolean): Promise<void> {
  const reader = await openReader(house, tenant_id)
  const faults: string[] = []
  for (const { url, bound, statements } of tried) {
    for (const statement of statements.filter((one) => !admitting.has(one.text) && isRead(one))) {
      for (const generic of [false, true]) {
        const { rows, pages, plan } = await reader.readingOf(statement, generic)
        if (rows <= most[bound].rows && pages <= most[bound].pages) continue
        const which = `${generic ? 'generic' : 'custom'} plan`
        faults.push(
          `${url}: ${which}, ${rows} rows, ${pages} pages\n${outline(plan).split('\n').slice(0, 12).join('\n')}`,
        )
      }
    }
  }
  await reader.close()
  assert.ok(faults.length === 0, `${faults.length} of ${tried.length} queries\n${faults.join('\n')}`)
}

suite(`with ${count} rows of one tenant, no page of a list reads more than a fixed number of rows and pages`, () => {
  // A lookup by a key needs them, and young tables are analyzed at once; a list that is read in order does not.
  test('without statistics', () => requireBounded(({ in_index_order }) => in_index_order !== undefined))
  test('with statistics, by which all requests and all grants are alike', async () => {
    await asSuperuser('vacuum analyze')
    await makeRare(provisioner)
    await requireBounded(() => true)
  })
})
