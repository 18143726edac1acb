import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { openStream } from '../support/event-stream.ts'
import { type Sallyport, startOnTestServer } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

/** The client from the guide, unchanged. */
type Received = { event: string; data?: { id: string } }
type Listen = (
  url: string,
  headers: () => Promise<Record<string, string>>,
  signal: AbortSignal,
) => AsyncIterable<Received>
const guide = readFileSync(new URL('../../../docs/guides/notifications.md', import.meta.url), 'utf8')
const code = /^```js\n([\s\S]*?)^```$/m.exec(guide)?.[1] ?? ''
const { listen } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as { listen: Listen }

const one = await startOnTestServer({ PUBLIC_URL: 'https://sallyport.example.com', STOP_DELAY_SECONDS: '60' })
const other = await one.beside()
const path = '/v1/users/me/notifications/stream'
const tenant = { 'x-tenant-id': one.bootstrap.tenant_id }
const owner = one.client({ api_key: one.bootstrap.api_key })

const leaving = new AbortController()
after(() => leaving.abort())

const policy = await owner<{ id: string }>('POST', '/v1/policies', { name: 'All may ask' })
await owner('POST', `/v1/policies/${policy.body.id}/rules`, { effect: 'permit' })
const dana = await one.join('Dana', ['user'])
const kim = await one.join('Kim', ['approver'])

/** Dana requests access at a process; returns the request's id. */
async function ask(at: Sallyport): Promise<string> {
  const request = { resource: { type: 'cloud_account', id: '123456789012' }, action: 'ReadOnly' }
  const reply = await at.client({ token: dana.token })<{ id: string }>('POST', '/v1/requests', request)
  assert.equal(reply.status, 201)
  return reply.body.id
}

test('a user deactivated at another process receives nothing more within seconds (A6)', async () => {
  const ben = await one.join('Ben', ['approver'])
  const headers = async () => ({ ...tenant, authorization: `Bearer ${ben.token}` })
  const stream = await openStream(other.base_url + path, await headers())
  await until('the stream has begun', async () => stream.events().length > 0)
  assert.equal((await owner('PATCH', `/v1/users/${ben.id}`, { active: false })).status, 200)
  assert.equal(await until('the stream of the deactivated user has ended', async () => stream.ended()), 'whole')
  const again = listen(other.base_url + path, headers, leaving.signal)
  await assert.rejects(again[Symbol.asyncIterator]().next(), /credential/)
})

test('notifications reach readers at the other process, also readers of a stopped one, each once (F13)', async () => {
  let url = one.base_url
  const headers = async () => ({ ...tenant, authorization: `Bearer ${kim.token}` })
  // Resolved again at each call, like a load balancer that skips a stopping process.
  const balanced = { toString: () => url + path } as string
  const received: Received[] = []
  const count = (event: string) => received.filter((one) => one.event === event).length
  const listening = (async () => {
    for await (const one of listen(balanced, headers, leaving.signal)) received.push(one)
  })()
  const raw = await openStream(one.base_url + path, await headers())
  await until('both streams are open', async () => raw.events().length > 0 && count('open') === 1)
  await ask(other)
  await until('the first notification has arrived', async () => count('notification') === 1 && raw.ids().length === 1)

  url = other.base_url
  one.signal('SIGTERM')
  assert.equal(await until('the stream has ended', async () => raw.ended()), 'whole')
  // Its port stays open as long as a load balancer may need: the stream did not end because the process ended.
  assert.equal(one.exitCode(), undefined)
  const refused = await openStream(one.base_url + path, await headers())
  assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '1'])
  await ask(other)
  await until('the second notification has arrived', async () => count('notification') === 2 && count('open') === 2)
  assert.equal(new Set(received.flatMap(({ data }) => data?.id ?? [])).size, 2)
  leaving.abort()
  await assert.rejects(listening, { name: 'AbortError' })
  await one.kill()
})
