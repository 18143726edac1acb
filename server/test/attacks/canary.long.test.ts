import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Operation } from '../../src/http/operation.ts'
import { fullBody } from '../support/full-bodies.ts'
import { type Call, openHouse, operations, type Person, type Reply, type TestTenant } from '../support/house.ts'
import { inTurns } from '../support/in-turns.ts'
import { placesOnce } from '../support/places-once.ts'
import { presentedTo } from '../support/presented.ts'
import { addressed, makeRecords, type Records } from '../support/samples.ts'
import { textFields, withText } from '../support/text-fields.ts'
import { until } from '../support/wait.ts'

/**
 * Another tenant writes its canary into every field that it can, and the workers process it. Then we call everything,
 * correctly and incorrectly: the canary is in no byte of any answer, and in no row of ours.
 */
const canary = 'canary8w3q5zk'
const house = await openHouse()
const ours = await house.tenant('ours')
const theirs = await house.tenant(`tenant ${canary}`)
const ourRecords = await makeRecords(house, ours)
const theirRecords = await makeRecords(house, theirs)
house.app.startWorkers()

async function asTheirs(person: Person, method: string, url: string, body: unknown): Promise<Reply> {
  const reply = await house.call({ method, url, token: person.token, tenant_id: theirs.tenant_id, body })
  assert.ok(reply.status < 300, reply.text)
  return reply
}

/** The canary in every form that some field accepts. */
const forms = [
  canary,
  `${canary}@example.com`,
  `https://${canary}.example/${canary}`,
  `when { principal.name == "${canary}" }`,
]

const isWalked = placesOnce()

/** Writes it into every text field of every body, in the first form that the field accepts; returns the fields that accepted it. */
async function plant(): Promise<string[]> {
  const taken = new Set<string>()
  for (const [operationId, operation] of Object.entries(operations)) {
    if (operation.body === undefined || !['any', 'user'].includes(operation.credential)) continue
    for (const way of textFields(operation.body)) {
      // Stored only as a hash, which costs more than everything else.
      if (way.join().includes('password') || !isWalked(operationId, way)) continue
      for (const form of forms) {
        const { status } = await house.call({
          method: operation.method,
          url: addressed(operation.path, theirRecords),
          ...presentedTo(operation, theirs.owner),
          tenant_id: theirs.tenant_id,
          body: withText(fullBody(operationId), way, form),
        })
        if (status >= 300) continue
        taken.add(`${operationId} ${way.join('/')}`)
        break
      }
    }
  }
  return [...taken]
}

/** The texts of a request's later steps, of which users are notified. */
async function plantOnTheWay(): Promise<void> {
  const { owner, people } = theirs
  const { user, approver } = people
  const policy = await asTheirs(owner, 'POST', '/v1/policies', { name: canary })
  await asTheirs(owner, 'POST', `/v1/policies/${policy.body.id}/rules`, { effect: 'permit', notice: canary })
  const ask = async () => {
    const body = { resource: { type: 'cloud_account', id: '123456789012' }, action: canary, reason: canary }
    return `/v1/requests/${(await asTheirs(user, 'POST', '/v1/requests', body)).body.id}`
  }
  await asTheirs(approver, 'POST', `${await ask()}/deny`, { reasoning: canary })
  await asTheirs(approver, 'POST', `${await ask()}/approve`, { reasoning: canary })
  const signIn = { method: 'POST', url: '/v1/auth/login', body: fullBody('login'), tenant_id: theirs.tenant_id }
  assert.equal((await house.call({ ...signIn, headers: { 'user-agent': canary } })).status, 200)
  await until('they have notifications of it', async () => {
    const page = await house.call({
      ...{ method: 'GET', url: '/v1/users/me/notifications', token: user.token, tenant_id: theirs.tenant_id },
    })
    return page.text.includes(canary)
  })
}

/** The calls of an operation, the valid one first, and those that can only be refused or show less. */
function callsOf(operationId: string, operation: Operation, as: TestTenant, records: Records) {
  const { method, path } = operation
  const url = addressed(path, records)
  const sound: Call = {
    ...{ method, url, tenant_id: as.tenant_id, ...presentedTo(operation, as.owner) },
    ...(operation.body !== undefined && { body: fullBody(operationId) }),
  }
  const byToken = { ...sound, ...(operation.credential === 'any' && { api_key: undefined, token: as.owner.token }) }
  return {
    whole: [sound, byToken as Call, { ...sound, url: `${url}?limit=200` }, { ...sound, tenant_id: theirs.tenant_id }],
    lesser: [
      { ...sound, body: '{' },
      { ...sound, body: { [canary.slice(0, 3)]: null } },
      { ...sound, url: `${url}?limit=nothing` },
      { ...sound, method: 'HEAD' },
      { ...sound, method: 'OPTIONS' },
      { method, url, ...(sound.body !== undefined && { body: sound.body }) },
    ] as Call[],
  }
}

const newToken = async () => (await house.signInAgain(ours.tenant_id, ours.owner)).token

const lesserCalls = [0, 1, 2, 3, 4, 5]
const someLesser = inTurns(lesserCalls, 3)

/** Our calls with their records, then with ours. In a usual run, half of the lesser ones name theirs, and the others ours. */
function callsToTry(operationId: string, operation: Operation): Call[] {
  const isOfRecord = operation.path.includes('{')
  return (isOfRecord ? [theirRecords, ourRecords] : [ourRecords]).flatMap((records) => {
    const { whole, lesser } = callsOf(operationId, operation, ours, records)
    const turn = isOfRecord ? someLesser() : lesserCalls
    return [...whole, ...lesser.filter((_call, index) => turn.includes(index))]
  })
}

suite('a canary of another tenant', () => {
  test('is accepted in many fields, and sent to their users', async () => {
    const taken = await plant()
    assert.ok(taken.length >= 35, `only in ${taken.join(', ')}`)
    await plantOnTheWay()
  })

  test('is visible to that tenant in its lists', async () => {
    const seen: string[] = []
    for (const [operationId, operation] of Object.entries(operations)) {
      if (operation.method !== 'GET' || !['any', 'user'].includes(operation.credential)) continue
      const { whole } = callsOf(operationId, operation, theirs, theirRecords)
      const [sound = assert.fail()] = whole
      if ((await house.call(sound)).text.includes(canary)) seen.push(operationId)
    }
    assert.ok(seen.length >= 16 && seen.includes('listOwnSessions'), `only in ${seen.join(', ')}`)
  })

  for (const [operationId, operation] of Object.entries(operations)) {
    test(`is in no answer of ${operationId} to us (T14)`, async () => {
      let token = await newToken()
      for (const call of callsToTry(operationId, operation)) {
        // Some calls end the session of their token, so each that changes something has a new one.
        if (call.token !== undefined && operation.method !== 'GET') token = await newToken()
        const { text, headers } = await house.call({ ...call, ...(call.token !== undefined && { token }) })
        assert.ok(!`${text} ${JSON.stringify(headers)}`.includes(canary), `${call.method} ${call.url}: ${text}`)
      }
    })
  }

  test('is on no public page (T14)', async () => {
    for (const url of [
      '/',
      '/docs/',
      '/docs/json',
      '/openapi.json',
      '/livez',
      '/readyz',
      '/.well-known/jwks.json',
      '/v2',
    ]) {
      const { text, headers } = await house.call({ method: 'GET', url })
      assert.ok(!`${text} ${JSON.stringify(headers)}`.includes(canary), url)
    }
  })

  test('is in no row of ours, and in many of theirs (T14)', async () => {
    const tables = await house.asSuperuser<{ name: string }>(
      `select table_name as name from information_schema.columns
        where table_schema = 'public' and column_name = 'tenant_id' order by 1`,
    )
    const withIt: string[] = []
    for (const { name } of tables) {
      const rows = await house.asSuperuser<{ tenant_id: string }>(
        `select distinct tenant_id from ${name} t where t::text like $1`,
        [`%${canary}%`],
      )
      assert.deepEqual(
        rows.filter(({ tenant_id }) => tenant_id !== theirs.tenant_id),
        [],
        name,
      )
      if (rows.length > 0) withIt.push(name)
    }
    assert.ok(withIt.length >= 12, `only in ${withIt.join(', ')}`)
  })
})
