import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { findResources } from '../../test/support/found-resources.ts'
import { openHouse, type Person } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { outline, readingOf, recordingTx } from '../../test/support/rows-read.ts'
import { actionDescription } from '../actions/action-store.ts'
import { sql } from '../db/sql.ts'
import { foundNamesAsJson, listFoundIds } from '../inventory/found-resource-store.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { policyEvaluator } from '../policy-engine/deciding/evaluate.ts'
import type { ResourceSeen } from '../provisioners/target-inventory.ts'
import type { CatalogueEntry } from './catalogue-entry.ts'

/** How much one page asks of policy and of the database, and what its end shows. */
const now = { reading: 0, held: 0, questions: 0, readingWhileAsking: 0 }
const house = await openHouse({}, (database) => ({
  ...database,
  tenant(tenant_id) {
    const tx = database.tenant(tenant_id)
    const counted = async <Result>(count: 'reading' | 'held', work: Promise<Result>) => {
      now[count] += 1
      try {
        return await work
      } finally {
        if (count === 'reading') now.reading -= 1
      }
    }
    const read: Tx['read'] = (statement) => counted('reading', tx.read(statement))
    const interactive: Tx['interactive'] = (work) => counted('held', tx.interactive(work))
    return { ...tx, read, interactive }
  },
}))
policyEvaluator.onAnswer = () => {
  now.questions += 1
  now.readingWhileAsking = Math.max(now.readingWhileAsking, now.reading)
}

type Stage = Awaited<ReturnType<typeof requestStage>>
type Page = { data: CatalogueEntry[]; next_cursor?: string; has_more: boolean }

let on: Stage
beforeEach(async () => {
  on = await requestStage(house, 'bounds')
  Object.assign(now, { held: 0, questions: 0, readingWhileAsking: 0 })
})

async function page(query = '', stage = on, by: Person = stage.people.user): Promise<Page> {
  const reply = await stage.call(by, 'GET', `/v1/catalogue${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body as Page
}

/** The pages from the first to the last, and how many questions each asked. */
async function allPages(query: string): Promise<(Page & { questions: number })[]> {
  const pages: (Page & { questions: number })[] = []
  for (let cursor = ''; ; ) {
    now.questions = 0
    const found = await page(`${query}${cursor}`)
    pages.push({ ...found, questions: now.questions })
    if (found.next_cursor === undefined) return pages
    cursor = `&cursor=${encodeURIComponent(found.next_cursor)}`
  }
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${850_000_000_000 + index}`)
async function cache(ids: readonly string[], tags: (id: string) => object = () => ({}), stage = on): Promise<void> {
  const resources = ids.map((id) => ({ id, account_id: id, name: `account ${id}`, metadata: tags(id) }))
  assert.equal((await stage.call(stage.owner, 'PUT', '/v1/cloud/accounts', { resources })).status, 200)
}
/** Each account has another owner, and each action another rule: every pair needs questions of its own. */
const owned = (id: string) => (id.endsWith('9') ? { open: 'yes', owner: id } : { owner: id })
async function permitEach(condition: string, stage = on, of = 'ABCD'): Promise<void> {
  for (const action of of)
    await stage.rule(
      `permit (principal, action == Action::"${action}", resource) when { resource.hasTag("owner") && resource.getTag("owner") != "" && (${condition}) };`,
    )
}

test('a page asks at most 500 questions, and the next one goes on where it ended', async () => {
  const ids = numbers(700)
  await cache(ids, owned)
  await permitEach('resource.hasTag("open")')
  const pages = await allPages('?limit=200')
  assert.deepEqual(
    pages.map(({ questions }) => questions),
    [500, 500, 500, 500, 500, 300],
  )
  const found = pages.flatMap(({ data }) => data.map(({ resource, action }) => `${resource.id} ${action}`))
  const expected = ids
    .filter((id) => id.endsWith('9'))
    .flatMap((id) => ['A', 'B', 'C', 'D'].map((one) => `${id} ${one}`))
  assert.deepEqual(found, expected)
})

test('a page of which few durations are known asks at most 500 too', async () => {
  await cache(numbers(100), owned)
  const durations = [600, 1200, 1800, 2400, 3000].map((one) => `context.duration_seconds == ${one}`)
  await permitEach(durations.join(' || '))
  const pages = await allPages('?limit=200')
  assert.ok(
    pages.every(({ questions }) => questions <= 500),
    JSON.stringify(pages.map(({ questions }) => questions)),
  )
  assert.equal(pages.flatMap(({ data }) => data).length, 400)
  assert.ok(pages.every(({ data }) => data.every((entry) => entry.max_duration_seconds === 3_000)))
})

test('what no permit covers by its scope asks nothing', async () => {
  await cache(numbers(300))
  await on.rule('permit (principal in Role::"auditor", action == Action::"A", resource);')
  await on.rule('permit (principal, action == Action::"B", resource == cloud_account::"850000000007");')
  await on.rule('forbid (principal, action == Action::"C", resource);')
  const pages = await allPages('?limit=200')
  assert.deepEqual([pages.length, pages[0]?.data.length, pages[0]?.questions], [1, 1, 1])
})

test('no connection waits for policy, and no transaction is held', async () => {
  await cache(numbers(120), owned)
  await permitEach('resource.hasTag("open")')
  now.readingWhileAsking = now.held = 0
  await page()
  assert.ok(now.questions > 400)
  assert.deepEqual([now.readingWhileAsking, now.held], [0, 0])
})

test('the end of a short page does not show what the caller may not have', async () => {
  const cursorAt = async (name: string) => {
    const resources = numbers(200).map((id) => ({ id, account_id: id, name, metadata: { owner: id } }))
    await on.call(on.owner, 'PUT', '/v1/cloud/accounts', { resources })
    const { data, next_cursor = '' } = await page()
    assert.equal(data.length, 0)
    return next_cursor
  }
  await permitEach('resource.hasTag("open")')
  const [short, long] = [await cursorAt('a'), await cursorAt('a'.repeat(100))]
  assert.ok(short.length > 0)
  assert.equal(short.length, long.length)
  for (const secret of ['account', '8500000', 'aaaa'])
    assert.ok(!Buffer.from(long, 'base64url').includes(secret), secret)
})

test('the longest name and action make a cursor that is taken', async () => {
  const [id] = numbers(1) as [string]
  const [name, action] = ['名'.repeat(200), '権'.repeat(255)]
  const resources = [{ id: '口'.repeat(128), account_id: id, name }]
  assert.equal((await on.call(on.owner, 'PUT', '/v1/cloud/accounts', { resources })).status, 200)
  await on.rule(
    `permit (principal, action in [Action::"${action}a", Action::"${action}b"], resource is cloud_account);`,
  )
  const pages = await allPages('?limit=1')
  assert.deepEqual(
    pages.map(({ data }) => data[0]?.action.at(-1)),
    ['a', 'b'],
  )
})

test('a page reads no more than 5,000 entries of the cache', async () => {
  await cache(numbers(5_000))
  await cache(['860000000000'], () => ({}))
  await on.rule('permit (principal, action == Action::"A", resource == cloud_account::"860000000000");')
  const pages = await allPages('?q=860000000000')
  assert.deepEqual(
    pages.map(({ data, has_more }) => [data.length, has_more]),
    [
      [0, true],
      [1, false],
    ],
  )
})

const foundIn = (type: ResourceSeen['resource_type'], ids: readonly string[]) =>
  findResources(
    house,
    on.tenant_id,
    ids.map((id) => ({ resource_type: type, id, name: id })),
  )

test('a page reads no more than 5,000 databases, and no rule tells most of them apart', async () => {
  const accounts = numbers(200)
  await cache(accounts, owned)
  const ids = Array.from({ length: 5_100 }, (_, n) => `arn:aws:rds:eu-west-1:${accounts[n % 200]}:db:db-${n}`)
  await foundIn('cloud_db_instance', ids)
  const last = ids.toSorted().at(-1)
  await on.rule(`forbid (principal, action, resource) unless { resource == cloud_db_instance::"${last}" };`)
  await on.rule('permit (principal, action == Action::"A", resource);')
  const pages = await allPages('?limit=200')
  assert.deepEqual(
    pages.map(({ data, questions }) => [data.map(({ resource }) => resource.id), questions]),
    [
      [[], 2],
      [[last], 2],
    ],
  )
})

test('a hundred permission sets are actions, of which those that no rule names share a question', async () => {
  const ids = numbers(300)
  await cache(ids, owned)
  const names = Array.from({ length: 120 }, (_, n) => `Set ${100 + n}`)
  for (let instance = 0; instance < 2; instance += 1) await foundIn('cloud_permission_set', names)
  await on.rule('permit (principal, action, resource) when { resource.hasTag("open") };')
  await on.rule('forbid (principal, action, resource) when { action == Action::"Set 101" };')
  await on.rule(
    'forbid (principal, action, resource) when { resource.hasTag("owner") && resource.getTag("owner") == "" };',
  )
  const pages = await allPages('?limit=200')
  const found = pages.flatMap(({ data }) => data.map(({ resource, action }) => `${resource.id} ${action}`))
  const sets = names.slice(0, 100).filter((name) => name !== 'Set 101')
  const open = ids.filter((id) => id.endsWith('9'))
  assert.deepEqual(
    found,
    open.flatMap((id) => sets.map((name) => `${id} ${name}`)),
  )
  // Each account has another owner: one question for the set that a rule names, and one for all others.
  assert.ok(pages.reduce((sum, { questions }) => sum + questions, 0) < 3 * 300 + 2 * pages.length)
})

test('a page reads no more than 100 units', async () => {
  const ids = Array.from({ length: 130 }, (_, n) => `ou-ab12-${85_000_000 + n}`)
  await on.cache({ '850000000000': { units: [ids[120] ?? ''] } })
  await foundIn('cloud_organizational_unit', ids)
  await on.rule('permit (principal, action == Action::"A", resource);')
  const pages = await allPages('?limit=200')
  assert.deepEqual(
    pages.map(({ data }) => data.map(({ resource }) => resource.id)),
    [['850000000000'], [ids[120]]],
  )
})

test('what inventories found is read in the order of one index, whatever else they found', async () => {
  for (const region of [1, 2, 3])
    await foundIn(
      'cloud_db_instance',
      numbers(3_000).map((id) => `arn:aws:rds:eu-west-${region}:${id}:db:x`),
    )
  for (const state of ['new', 'analyzed']) {
    if (state === 'analyzed') await house.asSuperuser('analyze')
    const { tx, statements } = recordingTx(house.database.tenant(on.tenant_id))
    const place = { id: 'arn:aws:rds:eu-west-2', isIncluded: false }
    await listFoundIds(tx, 'cloud_db_instance', place, 500)
    const resources = numbers(225).map((id) => ({
      type: 'cloud_db_instance' as const,
      id: `arn:aws:rds:eu-west-1:${id}:db:x`,
    }))
    await tx.read(sql`select ${foundNamesAsJson(tx, resources)} as names`)
    await tx.read(sql`select ${actionDescription(tx, sql`${'Read'}`, sql`${'cloud_account'}`)} as described`)
    for (const [index, most] of [500, 500, 10].entries()) {
      for (const generic of [true, false]) {
        const { rows, plan } = await readingOf(house, on.tenant_id, statements[index] as Statement, generic)
        assert.ok(rows <= most, `${state}, ${rows} rows\n${outline(plan)}`)
      }
    }
  }
})

test('the calls of a tenant take turns, so that another tenant has its share', async () => {
  const other = await requestStage(house, 'other')
  for (const stage of [on, other]) {
    await permitEach('resource.hasTag("open")', stage)
    // Each page is one batch of 200 questions.
    await cache(numbers(50), owned, stage)
  }
  const ended: string[] = []
  const call = (who: string, stage: Stage, by?: Person) => page('', stage, by).then(() => ended.push(who))
  const { user, approver, admin } = on.people
  const many = [user, approver, admin].flatMap((by) => Array.from({ length: 4 }, () => call('many', on, by)))
  await Promise.all([...many, call('one', other)])
  assert.ok(ended.indexOf('one') < 6, `it ended as number ${ended.indexOf('one')}`)
})

test('however many calls one user sends, another user of the tenant is answered', async () => {
  await permitEach('resource.hasTag("open")')
  await cache(numbers(50), owned)
  const { user, approver } = on.people
  const callers = [...Array.from({ length: 150 }, () => user), approver]
  const replies = await Promise.all(callers.map((by) => on.call(by, 'GET', '/v1/catalogue')))
  assert.equal(replies.at(-1)?.status, 200, replies.at(-1)?.text)
  assert.deepEqual([...new Set(replies.map(({ status }) => status))].sort(), [200, 503])
})
