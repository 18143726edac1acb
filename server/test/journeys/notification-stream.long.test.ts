import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { openStream, type Stream } from '../support/event-stream.ts'
import { type Sallyport, startOnTestServer } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

/** The client from the guide, unchanged. */
type Received = { event: string; data?: { id: string; resource_id?: string } }
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
  const request = { resource: { type: 'cloud_account', id: '123456789012' }, action: 'ReadOnly', reason: 'a look' }
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

test('a change at one process is reported at the other, to those who may see it, and no longer than they may (A6)', async () => {
  const eve = await one.join('Eve', ['approver'])
  const follow = async ({ token }: { token: string }, last?: string) => {
    const headers = {
      ...tenant,
      authorization: `Bearer ${token}`,
      ...(last !== undefined && { 'last-event-id': last }),
    }
    const stream = await openStream(`${other.base_url}/v1/stream`, headers)
    await until('the stream has begun', async () => stream.events().length > 0)
    return stream
  }
  const hasHint = (stream: Stream, id: string) => stream.events().some(({ data }) => data?.id === id)
  const [approver, requester] = [await follow(eve), await follow(dana)]
  const first = await ask(one)
  await until('both have the hint', async () => hasHint(approver, first) && hasHint(requester, first))
  const last = requester.events().findLast(({ id }) => id !== undefined)?.id
  requester.close()
  assert.equal((await owner('PUT', `/v1/users/${eve.id}/roles`, { roles: ['user'] })).status, 200)
  const second = await ask(one)
  assert.equal(await until('the approver’s stream has ended', async () => approver.ended()), 'whole')
  const [narrowed, resumed] = [await follow(eve, approver.events().at(-1)?.id), await follow(dana, last)]
  await until('the requester resumes', async () => hasHint(resumed, second))
  assert.ok(resumed.events().every(({ event }) => event !== 'missed'))
  assert.equal(narrowed.events()[0]?.event, 'missed')
  assert.ok(!hasHint(narrowed, second))
  for (const stream of [narrowed, resumed]) stream.close()
})

test('notifications reach readers at the other process, also readers of a stopped one, each once (F13)', async () => {
  let url = one.base_url
  const headers = async () => ({ ...tenant, authorization: `Bearer ${kim.token}` })
  // Resolved again at each call, like a load balancer that skips a stopping process.
  const balanced = { toString: () => url + path } as string
  const received: Received[] = []
  const count = (event: string) => received.filter((one) => one.event === event).length
  // On a busy machine, notifications of the requests of earlier tests may still arrive.
  const isAbout = (request: string) => (one: { data?: unknown }) =>
    (one.data as Received['data'])?.resource_id === request
  const listening = (async () => {
    for await (const one of listen(balanced, headers, leaving.signal)) received.push(one)
  })()
  const raw = await openStream(one.base_url + path, await headers())
  await until('both streams are open', async () => raw.events().length > 0 && count('open') >= 1)
  const first = await ask(other)
  await until('the first notification has arrived', async () =>
    [received, raw.events()].every((events) => events.some(isAbout(first))),
  )

  url = other.base_url
  one.signal('SIGTERM')
  assert.equal(await until('the stream has ended', async () => raw.ended()), 'whole')
  // Its port stays open as long as a load balancer may need: the stream did not end because the process ended.
  assert.equal(one.exitCode(), undefined)
  const refused = await openStream(one.base_url + path, await headers())
  assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '1'])
  const second = await ask(other)
  // On a busy machine the reader may have to come again more than once.
  await until(
    'the second notification has arrived',
    async () => received.some(isAbout(second)) && count('open') >= 2,
  ).catch(() => assert.fail(`the second notification has not arrived: ${JSON.stringify(received)}`))
  for (const request of [first, second]) assert.equal(received.filter(isAbout(request)).length, 1)
  assert.equal(new Set(received.flatMap(({ data }) => data?.id ?? [])).size, count('notification'))
  leaving.abort()
  await assert.rejects(listening, { name: 'AbortError' })
  await one.kill()
})
