import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reply } from '../support/client.ts'
import { openDatabaseProxy } from '../support/database-proxy.ts'
import { startOnTestServer } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

/** Processes that are killed while they answer a call with an idempotency key, and one that gets the same call afterwards. */
const survivor = await startOnTestServer({ PUBLIC_URL: 'https://sallyport.example.com' })
const { asSuperuser, bootstrap } = survivor
const proxy = await openDatabaseProxy(survivor.service)

/** Creates an API key, whose secret is returned once and never stored in clear: only the kept answer can return it again. */
function make(at: typeof survivor | Awaited<ReturnType<typeof survivor.beside>>, name: string) {
  const headers = { 'idempotency-key': `make ${name}`.replace(' ', '-') }
  return at.client({ api_key: bootstrap.api_key })('POST', '/v1/api-keys', { name, scopes: ['users:read'] }, headers)
}

/** Repeats the call until no process is working on it: the database learns a moment later that a process has died. */
async function makeAgain(name: string): Promise<Reply<Record<string, unknown>>> {
  return until('the key is free', async () => {
    const reply = await make(survivor, name)
    return reply.body.code !== 'idempotency_in_progress' && reply
  })
}

/** The number of keys of that name, and of events about their creation. */
async function madeSoFar(name: string): Promise<[keys: number, events: number]> {
  const [row] = await asSuperuser<{ keys: number; events: number }>(
    `select count(*)::int as keys, count(e)::int as events
      from api_key k left join event e on e.subject_id = k.id::text and e.type = 'api_key.created' where k.name = $1`,
    [name],
  )
  return [row?.keys ?? 0, row?.events ?? 0]
}

async function works(key: unknown): Promise<boolean> {
  const reply = await survivor.client({ api_key: String(key) })('GET', '/v1/users')
  return reply.status === 200
}

test('killed between the commit and the answer: a retry gets the answer with the secret, without a second key (R12)', async () => {
  const victim = await survivor.beside(proxy.target)
  proxy.muteFrom('commit')
  const cutOff = make(victim, 'committed').catch(() => 'cut off')
  await until('the key is committed', async () => (await madeSoFar('committed'))[0] === 1)
  await victim.kill()
  proxy.repair()
  assert.equal(await cutOff, 'cut off')

  const replayed = await makeAgain('committed')
  assert.deepEqual([replayed.status, replayed.headers.get('idempotency-replayed')], [201, 'true'])
  assert.deepEqual(await madeSoFar('committed'), [1, 1])
  assert.ok(await works(replayed.body.key))
})

test('killed before the commit: nothing was done, and the next call creates the key (R12)', async () => {
  const victim = await survivor.beside()
  // While this transaction is open the answer cannot be stored, so nothing is committed.
  await asSuperuser('begin')
  await asSuperuser('lock table kept_answer in share mode')
  let answered = false
  const cutOff = make(victim, 'uncommitted').then(
    ({ status }) => {
      answered = true
      return status
    },
    () => 'cut off',
  )
  await until('the call waits to store its answer', async () => {
    const [row] = await asSuperuser<{ waits: boolean }>(
      `select exists (select from pg_locks where relation = 'kept_answer'::regclass and not granted) as waits`,
    )
    return row?.waits || answered
  })
  await victim.kill()
  await asSuperuser('rollback')
  // If it had waited too long for the lock, it has already answered 503.
  assert.ok(['cut off', 503].includes(await cutOff))

  const done = await makeAgain('uncommitted')
  assert.deepEqual([done.status, done.headers.get('idempotency-replayed')], [201, null])
  assert.deepEqual(await madeSoFar('uncommitted'), [1, 1])
  assert.ok(await works(done.body.key))
  const again = await makeAgain('uncommitted')
  assert.deepEqual([again.body, again.headers.get('idempotency-replayed')], [done.body, 'true'])
})

test('killed between two of many decisions: a retry makes the others, and answers all of them (R12)', async () => {
  const owner = survivor.client({ api_key: bootstrap.api_key })
  const policy = await owner('POST', '/v1/policies', { name: 'everybody may ask' })
  await owner('POST', `/v1/policies/${policy.body.id}/rules`, { effect: 'permit' })
  const ada = await survivor.join('Ada', ['user'])
  const ids: string[] = []
  for (const account of ['100000000001', '100000000002', '100000000003', '100000000004']) {
    const asked = { resource: { type: 'cloud_account', id: account }, action: 'ReadOnly', reason: 'a look' }
    ids.push(String((await ada.call('POST', '/v1/requests', asked)).body.id))
  }
  const decisions = ids.map((id) => ({ id, decision: 'approve' }))
  const decideAt = (at: Pick<typeof survivor, 'client'>) =>
    at.client({ api_key: bootstrap.api_key })(
      'POST',
      '/v1/requests/decisions',
      { decisions },
      { 'idempotency-key': 'all' },
    )
  const decided = () =>
    asSuperuser<{ id: string }>(
      `select a.id from access_request a join event e on e.subject_id = a.id::text and e.type = 'request.approved'
        where a.status = 'approved' order by a.id`,
    )

  const victim = await survivor.beside()
  // While this transaction is open the third decision cannot be made.
  await asSuperuser('begin')
  await asSuperuser('select from access_request where id = $1 for update', [ids[2]])
  const cutOff = decideAt(victim).catch(() => 'cut off')
  await until('two are decided, and the third waits', async () => {
    const [row] = await asSuperuser<{ waits: boolean }>(
      `select exists (select from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))) as waits`,
    )
    return row?.waits && (await decided()).length === 2
  })
  await victim.kill()
  await asSuperuser('rollback')
  // If it had waited too long for the lock, it has already answered 503 for that one.
  await cutOff

  const done = await until('the key is free', async () => {
    const reply = await decideAt(survivor)
    return reply.body.code !== 'idempotency_in_progress' && reply
  })
  const results = done.body.results as { id: string; status: number; request: { status: string } }[]
  assert.deepEqual(
    results.map(({ id, status, request }) => [id, status, request.status]),
    ids.map((id) => [id, 200, 'approved']),
  )
  assert.deepEqual(
    await decided(),
    ids.map((id) => ({ id })),
    'each once',
  )
  const again = await decideAt(survivor)
  assert.deepEqual([again.body, again.headers.get('idempotency-replayed')], [done.body, 'true'])
})
