import assert from 'node:assert/strict'
import { afterEach } from 'node:test'
import { openStream, type Stream } from './event-stream.ts'
import type { House, Person } from './house.ts'
import { until } from './wait.ts'

/** The hints of a stream, as `type id`. */
export const hintsIn = (stream: Stream) =>
  stream.events().flatMap(({ event, data }) => (event === 'changed' ? [`${data?.type} ${data?.id}`] : []))

/** The last `id` that a stream has received. */
export const lastIdIn = (stream: Stream) => stream.events().findLast(({ id }) => id !== undefined)?.id ?? ''

export const hasMissed = (stream: Stream) => stream.events().some(({ event }) => event === 'missed')

/** Opens streams of changes at a service that listens; they are closed after each test. */
export async function changeStreams(house: House) {
  const address = await house.app.server.listen({ host: '127.0.0.1', port: 0 })
  const streams = new Set<Stream>()
  afterEach(() => {
    for (const stream of streams) stream.close()
    streams.clear()
  })

  /** Returns when the stream has begun. `path`: another stream. */
  async function follow(
    tenant_id: string,
    { token }: Pick<Person, 'token'>,
    last?: string,
    path = '/v1/stream',
  ): Promise<Stream> {
    const headers = { authorization: `Bearer ${token}`, 'x-tenant-id': tenant_id }
    const stream = await openStream(address + path, {
      ...headers,
      ...(last !== undefined && { 'last-event-id': last }),
    })
    streams.add(stream)
    assert.equal(stream.status, 200, stream.text())
    await until('it has begun', async () => stream.events().length > 0)
    return stream
  }

  return { address, follow }
}

/** Events of a tenant ($1) about groups whose names begin with $2, as many as $3, in one transaction. */
export const insertGroupEvents = `insert into event
    (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
  select $1::uuid, gen_random_uuid(), 'group.updated', 'system', 'group', $2 || one, 'test'
  from generate_series(1, $3::integer) one`

/** Waits until each of these hints has arrived. @throws AssertionError naming those that have not when the stream ends */
export async function receives(stream: Stream, ...hints: readonly string[]): Promise<void> {
  await until(`the hints ${hints.join(', ')} have arrived`, async () => {
    const arrived = new Set(hintsIn(stream))
    const lacking = hints.filter((hint) => !arrived.has(hint))
    const ended = stream.ended()
    assert.ok(lacking.length === 0 || ended === undefined, `it ended (${ended}) without ${lacking}`)
    return lacking.length === 0
  })
}

/** Another user of the tenant with the role `user`. */
export async function colleague(house: House, tenant_id: string, owner: Person, name: string): Promise<Person> {
  const body = { email: `${name}@example.com`, name, roles: ['user'], auth_provider: 'oidc' }
  const reply = await house.call({ method: 'POST', url: '/v1/users', token: owner.token, tenant_id, body })
  assert.equal(reply.status, 201, reply.text)
  return house.person(tenant_id, String(reply.body.id))
}
