import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { inParallel } from './support/race.ts'
import { startOnTestServer } from './support/sallyport.ts'

/** Bodies larger than sensible, sent to the real process: each has a limit, and the process stays small. */
const service = await startOnTestServer()
const { base_url, bootstrap } = service
const owner = service.client({ api_key: bootstrap.api_key })

const headers = {
  'x-tenant-id': bootstrap.tenant_id,
  'x-api-key': bootstrap.api_key,
  'content-type': 'application/json',
}

/** Begins a call and returns the answer, which may come before the body is sent. */
function begin(method: string, path: string, more: Record<string, string | number>) {
  const call = request(base_url + path, { method, headers: { ...headers, ...more }, agent: false })
  const answered = once(call, 'response').then(async ([reply]) => {
    const { code } = (await json(reply as IncomingMessage)) as { code?: string }
    return [(reply as IncomingMessage).statusCode, code]
  })
  return { call, answered }
}

/** Announces a body of this length, sends none, and returns the answer. */
async function announce(method: string, path: string, bytes: number) {
  const { call, answered } = begin(method, path, { 'content-length': bytes })
  call.flushHeaders()
  const answer = await answered
  call.on('error', () => undefined).destroy()
  return answer
}

/**
 * Sends megabytes without a length for as long as they are accepted. A caller that is cut off while sending may miss the
 * answer.
 */
async function pour(method: string, path: string, megabytes: number) {
  const { call, answered } = begin(method, path, { 'transfer-encoding': 'chunked' })
  call.on('error', () => undefined)
  const pieces = Readable.from(Array(megabytes).fill(big)).pipe(call)
  const answer = await answered.catch(() => ['cut off'])
  pieces.destroy()
  return answer
}

const big = Buffer.alloc(1024 * 1024, ' ')
const tooLarge = [413, 'payload_too_large']

const entry = (index: number, metadata: object = {}) => ({ id: `e${index}`, account_id: '1', metadata })
const entries = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `${index}`, account_id: '1' }))
const put = (resources: unknown[]) =>
  owner<{ code?: string; upserted?: number }>('PUT', '/v1/cloud/accounts', { resources })

test('200 MB are refused by their length before they are sent, and cut off without a length (I1)', async () => {
  assert.deepEqual(await announce('PUT', '/v1/cloud/accounts', 200_000_000), tooLarge)
  const poured = await pour('PUT', '/v1/cloud/accounts', 200)
  assert.ok(poured[0] === 'cut off' || isDeepStrictEqual(poured, tooLarge), poured.join())
})

test('a body past 1 MiB is refused elsewhere, whatever it is for (I1)', async () => {
  for (const path of ['/v1/requests', '/v1/policies', '/v1/groups', '/v1/roles']) {
    assert.deepEqual(await announce('POST', path, big.length + 1), tooLarge, path)
  }
})

test('a body that is large for an avatar has no more values than any other, which would take seconds to read', async () => {
  const values = Object.fromEntries(Array.from({ length: 300_000 }, (_, index) => [`${index}`, 0]))
  const { status, body } = await owner<{ message: string }>('POST', '/v1/users', values)
  assert.deepEqual([status, body.message], [400, '`/` has more than 1000 values: send less'])
})

test('an avatar may be sent in 4 MiB, so that one that is too large is a faulty field', async () => {
  const avatar_base64 = `data:image/png;base64,${'A'.repeat(3 * big.length)}`
  const user = { email: 'a@example.com', name: 'A', roles: ['user'], auth_provider: 'oidc', avatar_base64 }
  const { status, body } = await owner<{ message: string }>('POST', '/v1/users', user)
  assert.deepEqual([status, body.message], [400, '`/avatar_base64` is larger than 256 KiB: use a smaller image'])
  assert.deepEqual(await announce('POST', '/v1/users', 4 * big.length + 1), tooLarge)
})

test('a draft of policies may be 4 MiB, wherever one is taken, and no more', async () => {
  const draft = { policies: [{ name: 'n', description: ' '.repeat(2 * big.length), rules: [] }] }
  for (const path of ['test', 'invariants', 'replay'].map((one) => `/v1/policies/${one}`)) {
    assert.deepEqual(await announce('POST', path, 4 * big.length + 1), tooLarge, path)
    const { status, body } = await owner<{ code: string }>('POST', path, { draft })
    assert.deepEqual([status, body.code], [400, 'invalid_input'], path)
  }
})

test('a draft whose gains are asked may be 256 KiB', async () => {
  assert.deepEqual(await announce('POST', '/v1/policies/gains', 256 * 1024 + 1), tooLarge)
})

const refused: [string, () => Promise<{ status: number; body: { code?: string } }>, number, string][] = [
  ['5,001 entries', () => put(entries(5_001)), 400, 'invalid_input'],
  ['100,000 entries', () => put(entries(100_000)), 400, 'invalid_input'],
  ['metadata of 1 MB', () => put([entry(1, { text: 'x'.repeat(1_000_000) })]), 400, 'invalid_input'],
  [
    '100,000 ids to reorder',
    () => owner('PATCH', '/v1/policies/reorder', { ids: Array(100_000).fill('x') }),
    400,
    'invalid_input',
  ],
  [
    '10,001 ids to reorder',
    () => owner('PATCH', '/v1/policies/reorder', { ids: Array(10_001).fill(bootstrap.tenant_id) }),
    400,
    'invalid_input',
  ],
  [
    '10,000 recipients',
    () => owner('POST', '/v1/notification-channels/email', { name: 'n', to_addresses: Array(10_000).fill('a@b.co') }),
    400,
    'invalid_input',
  ],
  [
    '10,000 scopes',
    () => owner('POST', '/v1/roles', { name: 'n', scopes: Array(10_000).fill('users:read') }),
    400,
    'invalid_input',
  ],
]
for (const [what, send, status, code] of refused) {
  test(`${what} are refused (I1, I2)`, async () => {
    const reply = await send()
    assert.deepEqual([reply.status, reply.body.code], [status, code])
  })
}

test('bodies of the maximum size are accepted repeatedly, and the process does not grow (I1)', async (t) => {
  const room = { text: 'x'.repeat(600) }
  const most = Array.from({ length: 5_000 }, (_, index) => entry(index, room))
  assert.deepEqual([(await put(most)).status, (await put(most)).body.upserted], [200, 5_000])
  const before = service.memory()
  const hostile = [
    () => put(most),
    () => put(entries(100_000)),
    () => put([entry(1, { text: 'x'.repeat(1_000_000) })]),
    () => pour('PUT', '/v1/cloud/accounts', 50),
  ]
  await inParallel([...hostile, ...hostile, ...hostile], 4, async (send) => send())
  const after = service.memory()
  t.diagnostic(`resident: ${before.now} MB before, ${after.now} MB after, ${after.peak} MB at most`)
  // Twelve bodies that a careless reader would keep take 300 MB as text alone.
  assert.ok(after.peak < 512, `the process took ${after.peak} MB`)
  assert.equal((await owner('GET', '/v1/cloud/accounts?limit=1')).status, 200)
})
