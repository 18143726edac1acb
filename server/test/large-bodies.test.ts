import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { inLanes } from './support/race.ts'
import { startOnTestServer } from './support/sallyport.ts'

/** Bodies larger than is sensible, sent to the real process: each has a bound, and the process stays small. */
const service = await startOnTestServer()
const { base_url, bootstrap } = service
const owner = service.client({ api_key: bootstrap.api_key })

type Told = { status: number; code?: string }

/** Sends this piece so many times as one body, for as long as the service takes it; answers what it said. */
function pour(method: string, path: string, piece: Buffer, times: number, chunked = false): Promise<Told> {
  return new Promise((resolve, reject) => {
    const headers = {
      'x-tenant-id': bootstrap.tenant_id,
      'x-api-key': bootstrap.api_key,
      'content-type': 'application/json',
      ...(!chunked && { 'content-length': piece.length * times }),
    }
    let answered = false
    const call = request(base_url + path, { method, headers, agent: false }, (reply) => {
      answered = true
      let text = ''
      reply.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      reply.on('end', () => {
        call.destroy()
        resolve({ status: reply.statusCode ?? 0, code: (JSON.parse(text) as { code?: string }).code ?? '' })
      })
    })
    // Once it has answered, it may close while we still send.
    call.on('error', (error) => (answered ? undefined : reject(error)))
    let sent = 0
    const more = () => {
      while (sent < times && !call.destroyed) {
        sent += 1
        if (!call.write(piece)) return call.once('drain', more)
      }
      return call.end()
    }
    more()
  })
}

const entry = (index: number, metadata: object = {}) => ({ id: `e${index}`, account_id: '1', metadata })
const entries = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `${index}`, account_id: '1' }))
const put = (resources: unknown[]) =>
  owner<{ code?: string; upserted?: number }>('PUT', '/v1/cloud/accounts', { resources })
const big = Buffer.alloc(1024 * 1024, ' ')

test('200 MB are refused by their length before they come, and as they come where no length is said (I1)', async () => {
  for (const chunked of [false, true]) {
    const told = await pour('PUT', '/v1/cloud/accounts', big, 200, chunked)
    assert.deepEqual(told, { status: 413, code: 'payload_too_large' })
  }
})

test('a body past 1 MiB is refused elsewhere, whatever it is for (I1)', async () => {
  for (const path of ['/v1/requests', '/v1/policies', '/v1/users', '/v1/groups', '/v1/roles']) {
    const told = await pour('POST', path, big, 2)
    assert.deepEqual(told, { status: 413, code: 'payload_too_large' }, path)
  }
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

test('the most that is taken is taken, again and again, and the process stays as small as it is (I1)', async (t) => {
  const room = { text: 'x'.repeat(600) }
  const most = Array.from({ length: 5_000 }, (_, index) => entry(index, room))
  assert.deepEqual([(await put(most)).status, (await put(most)).body.upserted], [200, 5_000])
  const before = service.memory()
  const hostile = [
    () => put(most),
    () => put(entries(100_000)),
    () => put([entry(1, { text: 'x'.repeat(1_000_000) })]),
    () => pour('PUT', '/v1/cloud/accounts', big, 50, true),
  ]
  await inLanes([...hostile, ...hostile, ...hostile], 4, async (send) => send())
  const after = service.memory()
  t.diagnostic(`resident: ${before.now} MB before, ${after.now} MB after, ${after.peak} MB at most`)
  // Twelve bodies that a careless reader would keep hold 300 MB as text alone.
  assert.ok(after.peak < 512, `the process took ${after.peak} MB`)
  assert.equal((await owner('GET', '/v1/cloud/accounts?limit=1')).status, 200)
})
