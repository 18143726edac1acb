import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { policyEvaluator } from '../policy-engine/deciding/evaluate.ts'
import type { CatalogueEntry } from './catalogue-entry.ts'

/** What a search costs and shows: nothing of the names of accounts that the caller may not have. */
const house = await openHouse()
let questions = 0
policyEvaluator.onAnswer = () => {
  questions += 1
}

let on: Awaited<ReturnType<typeof requestStage>>
beforeEach(async () => {
  on = await requestStage(house, 'search')
})

async function search(query: string) {
  questions = 0
  const reply = await on.call(on.people.user, 'GET', `/v1/catalogue?${query}`)
  assert.equal(reply.status, 200, reply.text)
  const { data, has_more, next_cursor } = reply.body as {
    data: CatalogueEntry[]
    has_more: boolean
    next_cursor?: string
  }
  return { found: data.map(({ resource, action }) => `${resource.id} ${action}`), has_more, next_cursor, questions }
}

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, index) => `${from + index}`)
type Cached = { id: string; name: string; tags: object }
async function cache(accounts: readonly Cached[]): Promise<void> {
  const resources = accounts.map(({ id, name, tags }) => ({ id, account_id: id, name, rank: 1, metadata: tags }))
  assert.equal((await on.call(on.owner, 'PUT', '/v1/cloud/accounts', { resources })).status, 200)
}
const open = numbers(860_000_000_000, 30).map((id) => ({ id, name: `open ${id}`, tags: { env: 'dev', owner: id } }))
const hidden = { id: '812345678901', name: 'nightingale', tags: { env: 'secret', owner: 'them' } }
const forDev = 'when { resource.hasTag("env") && resource.getTag("env") == "dev" }'
const misses = ['zebra', '999999999999']
const hits = ['ni', 'nightingale', '8', '812345678901', 'nightingale read']

/** A statement may name 16 actions. */
const actions = [numbers(10, 15), numbers(25, 15)].map((some) => some.map((one) => `Action::"read ${one}"`).join())

/** Thirty actions, of which another group may have all; durations and reasons that matter. */
async function manyQuestions(): Promise<void> {
  const group = await on.created(on.owner, '/v1/groups', { name: 'others' })
  for (const some of actions)
    await on.rule(`permit (principal in Group::"${group.id}", action in [${some}], resource);`)
  await on.rule(
    'forbid (principal, action, resource) when { context.duration_seconds > 14400 && !context.has_reason };',
  )
  await on.rule('forbid (principal, action, resource) when { context.duration_seconds > 28800 };')
}

test('a search costs and shows the same whether or not a hidden account matches', async () => {
  await manyQuestions()
  await on.rule(`permit (principal, action, resource) ${forDev};`)
  await cache([...open, hidden])
  const expected = await search('q=zebra')
  assert.deepEqual([expected.found, expected.has_more], [[], false])
  for (const q of [...misses, ...hits]) {
    const shown = await search(`q=${encodeURIComponent(q)}`)
    if (q === '8') assert.ok(shown.found.every((pair) => pair.startsWith('860')))
    else assert.deepEqual(shown, expected, q)
  }
})

test('nor does the end of a page that ends early show it', async () => {
  // Each pair needs many questions of its own: rules read the owner, the action and the reason.
  await manyQuestions()
  await on.rule(`permit (principal, action, resource) ${forDev};`)
  for (const some of actions)
    await on.rule(
      `permit (principal, action, resource) when { context.duration_seconds == 600 && context.has_reason && resource.hasTag("owner") && resource.getTag("owner") == "none" && [${some}].contains(action) };`,
    )
  await cache([...open, hidden])
  const [expected] = [await search('q=zebra')]
  assert.deepEqual([expected.found, expected.has_more], [[], true])
  assert.ok(expected.questions > 300 && expected.questions <= 500, `${expected.questions} questions`)
  for (const q of [...misses, ...hits.filter((one) => one !== '8')]) {
    const shown = await search(`q=${encodeURIComponent(q)}`)
    assert.deepEqual({ ...shown, next_cursor: undefined }, { ...expected, next_cursor: undefined }, q)
    assert.equal(shown.next_cursor?.length, expected.next_cursor?.length)
  }
})

test('a search goes on behind what does not match, and ends where nothing more was found', async () => {
  await on.rule(`permit (principal, action in [Action::"Admin", Action::"Read"], resource) ${forDev};`)
  await cache([...open, { ...hidden, name: 'open secret' }])
  const last = open.at(-1)?.id ?? ''
  assert.deepEqual((await search(`q=${last}&limit=1`)).found, [`${last} Admin`])
  const { found, has_more } = await search('q=open+read&limit=30')
  assert.deepEqual([found.length, has_more], [30, false])
})

test('accounts and actions that no rule tells apart are evaluated once', async () => {
  const many = numbers(870_000_000_000, 2_000).map((id) => ({
    id,
    name: `team ${id}`,
    tags: { env: 'prod', owner: id },
  }))
  await cache([...many, ...open])
  await manyQuestions()
  await on.rule(`permit (principal, action, resource) ${forDev};`)
  await on.rule('permit (principal, action == Action::"Look", resource) when { resource.hasTag("env") };')
  const { found, has_more, questions: asked } = await search('q=870000001999')
  assert.deepEqual([found, has_more], [['870000001999 Look'], false])
  assert.ok(asked < 60, `${asked} questions`)
})
