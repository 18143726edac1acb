import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { receiverStage } from '../support/receiver-stage.ts'
import { until } from '../support/wait.ts'
import type { Received } from '../support/webhook-receiver.ts'

/** Access on a tenant's own system: requested, approved, sent to a receiver, which takes its time, and ended. */
const stage = await receiverStage()
const {
  house,
  receiver,
  owner,
  people,
  tenant,
  provisioner_id,
  results,
  as,
  report,
  send,
  received,
  approved,
  grantOf,
} = stage
const other = await house.tenant('Other')

test('a receiver reports its result later; then access is active, ends, and is revoked', async () => {
  const request_id = await approved('000000000001')
  const grant: Received = await received('access.grant', '000000000001')
  assert.equal((grant.data.user as { email: string }).email, 'user@example.com')
  assert.equal(grant.headers.authorization, 'Bearer gateway')
  const { url, tenant_id } = grant.data.callback as { url: string; tenant_id: string }
  assert.equal(new URL(url).pathname, results)
  assert.equal(tenant_id, tenant.tenant_id)

  // Without the result the next check would be within the hour.
  await until('the grant waits for its receiver', async () => {
    const waiting = await house.asSuperuser(
      `update entitlement set next_look_at = clock_timestamp() + interval '1 hour'
        where act_reference = $1 and lease_until is null returning id`,
      [`job-${grant.id}`],
    )
    return waiting.length === 1
  })
  receiver.finish(grant.id)
  assert.equal((await send(report(grant.id, { status: 'done' }))).status, 204)
  const active = await grantOf(request_id, 'active')

  await as(owner, 'POST', `/v1/grants/${active.id}/revoke`, {}, 200)
  const revoke = await received('access.revoke', '000000000001')
  receiver.finish(revoke.id)
  assert.equal((await send(report(revoke.id, { status: 'done' }))).status, 204)
  await until('the access is gone', async () => {
    const [row] = await house.asSuperuser<{ provisioning_status: string }>(
      'select provisioning_status from access_grant where id = $1',
      [active.id],
    )
    return row?.provisioning_status === 'deprovisioned'
  })
  assert.equal(receiver.held.size, 0)
})

test('if a receiver reports done too early, access is active only once a check finds it', async () => {
  receiver.behave = ({ type }, usual) => (type === 'access.grant' ? { status: 200, body: { status: 'done' } } : usual())
  const request_id = await approved('000000000005')
  const failing = await until('the contradiction is shown', async () => {
    const [row] = await house.asSuperuser<{ id: string; status: string; last_error: string | null }>(
      'select id, status, last_error from access_grant where request_id = $1',
      [request_id],
    )
    return row !== undefined && row.last_error !== null && row
  })
  assert.equal(failing.status, 'pending')
  assert.match(failing.last_error ?? '', /reports that the grant is done, but does not show it/)
  Object.assign(receiver, { behave: (_received: Received, usual: () => unknown) => usual(), later: 0 })
  await grantOf(request_id, 'active')
  receiver.later = Number.POSITIVE_INFINITY
})

test('two users whose access a receiver names alike each get theirs, and the end of one is sent', async () => {
  const account = '000000000007'
  receiver.later = 0
  receiver.behave = ({ type }, usual) => {
    if (type !== 'access.plan') return usual()
    return { status: 200, body: { status: 'absent', entitlement: 'cn=openers', session_seconds: 0 } }
  }
  const one = await grantOf(await approved(account), 'active')
  // This receiver keeps what it holds by the name alone, so it would say of the second user that the access is there.
  receiver.held.clear()
  await grantOf(await approved(account, owner), 'active')
  await as(owner, 'POST', `/v1/grants/${one.id}/revoke`, {}, 200)
  await received('access.revoke', account)
  const usersOf = (kind: string) =>
    new Set(
      receiver.received
        .filter(({ type, data }) => type === kind && data.entitlement === 'cn=openers')
        .map(({ data }) => (data.user as { id: string }).id),
    )
  assert.deepEqual(usersOf('access.grant'), new Set([people.user.user_id, owner.user_id]))
  assert.deepEqual(usersOf('access.revoke'), new Set([people.user.user_id]))
  Object.assign(receiver, {
    behave: (_received: Received, usual: () => unknown) => usual(),
    later: Number.POSITIVE_INFINITY,
  })
})

test('a failed result fails the grant with the receiver’s message', async () => {
  const request_id = await approved('000000000002')
  const { id } = await received('access.grant', '000000000002')
  const words = `the door is\n\u0007being painted${' and dries'.repeat(100)}`
  assert.equal((await send(report(id, { status: 'failed', message: words }))).status, 204)
  const failed = await grantOf(request_id, 'failed')
  const [row] = await house.asSuperuser<{ last_error: string }>('select last_error from access_grant where id = $1', [
    failed.id,
  ])
  assert.match(row?.last_error ?? '', /^the door is being painted and dries/)
  assert.ok((row?.last_error ?? '').length <= 500)
})

test('a result needs a recent signature by the secret, for this provisioner and tenant; all others get one answer (S7)', async () => {
  await approved('000000000003')
  const { id } = await received('access.grant', '000000000003')
  const sound = report(id, { status: 'done' })
  const minutes = (count: number) => new Date(Date.now() + count * 60_000)
  const elsewhere = `/v1/provisioners/${newId()}/results`
  const refused = [
    await send(report(id, { status: 'done' }, { key: `whsec_${Buffer.alloc(32).toString('base64')}` })),
    await send(report(id, { status: 'done' }, { at: minutes(-6) })),
    await send(report(id, { status: 'done' }, { at: minutes(6) })),
    await send({ ...sound, body: sound.body.replace('done', 'failed') }),
    await send({ ...sound, body: `${sound.body} ` }),
    await send({ ...sound, headers: { ...sound.headers, 'webhook-id': 'another' } }),
    await send({
      ...sound,
      headers: { ...sound.headers, 'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 100) },
    }),
    await send({ ...sound, headers: { ...sound.headers, 'webhook-signature': 'v1,' } }),
    await send(sound, elsewhere),
    await send(sound, results, other.tenant_id),
    await send(sound, results, newId()),
  ]
  for (const reply of refused) assert.deepEqual([reply.status, reply.body.code], [401, 'unauthenticated'], reply.text)
  assert.equal(new Set(refused.map(({ text }) => text)).size, 1)
  assert.equal((await send(report(id, { status: 'done' }, { type: 'access.grant' }))).status, 400)
  const [act] = await house.asSuperuser('select outcome from webhook_act where id = $1', [id])
  assert.deepEqual(act, { outcome: null })

  // A replayed result changes nothing, nor does a second result, nor one that no act waits for.
  assert.equal((await send(report(id, { status: 'failed' }))).status, 204)
  for (const late of [sound, report(newId(), { status: 'done' }), report('nothing', { status: 'done' })]) {
    assert.equal((await send(late)).status, 204)
  }
  const [after] = await house.asSuperuser('select outcome from webhook_act where id = $1', [id])
  assert.deepEqual(after, { outcome: 'failed' })
})

test('after a rotation both secrets are valid for a day, or the new one only, if requested (S7)', async () => {
  await approved('000000000006')
  const { id } = await received('access.grant', '000000000006')
  const rotate = async (body: object) => {
    const reply = await as(owner, 'POST', `/v1/provisioners/${provisioner_id}/rotate-secret`, body, 200)
    return (reply.shown_once as { signing_secret: string }).signing_secret
  }
  const statusOf = async (key: string) => (await send(report(id, { status: 'done' }, { key }))).status
  const before = receiver.secret
  const next = await rotate({})
  assert.deepEqual([await statusOf(before), await statusOf(next)], [204, 204])
  const receivedBefore = receiver.received.length
  await until('a message that is signed with the old secret too', () =>
    Promise.resolve(receiver.received.length > receivedBefore),
  )
  receiver.secret = await rotate({ overlap_seconds: 0 })
  assert.deepEqual([await statusOf(before), await statusOf(next), await statusOf(receiver.secret)], [401, 401, 204])
})

test('a result of another provisioner’s act is ignored', async () => {
  await approved('000000000004')
  const { id } = await received('access.grant', '000000000004')
  const body = { name: 'Another', provisioner_type: 'webhook', config: { url: receiver.url } }
  const another = await as(owner, 'POST', '/v1/provisioners', body)
  const key = (another.shown_once as { signing_secret: string }).signing_secret
  assert.equal(
    (await send(report(id, { status: 'done' }, { key }), `/v1/provisioners/${another.id}/results`)).status,
    204,
  )
  const [act] = await house.asSuperuser('select outcome from webhook_act where id = $1', [id])
  assert.deepEqual(act, { outcome: null })
})

test('a provisioner with active access keeps its receiver and cannot be deleted', async () => {
  const elsewhere = { url: `${receiver.url}/elsewhere`, headers: { authorization: 'Bearer gateway' } }
  for (const [method, body] of [['PATCH', { config: elsewhere }], ['DELETE']] as const) {
    const refused = await as(owner, method, `/v1/provisioners/${provisioner_id}`, body, 409)
    assert.equal(refused.code, 'provisioner_in_use')
  }
  const headers = { authorization: 'Bearer another gateway' }
  const changed = await as(
    owner,
    'PATCH',
    `/v1/provisioners/${provisioner_id}`,
    { config: { url: receiver.url, headers } },
    200,
  )
  assert.deepEqual(changed.config, { url: receiver.url, headers: '[redacted]', signing_secret: '[redacted]' })
  await approved('000000000060')
  assert.equal((await received('access.grant', '000000000060')).headers.authorization, 'Bearer another gateway')
})
