import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import { until } from '../../../test/support/wait.ts'
import { type Received, startReceiver } from '../../../test/support/webhook-receiver.ts'
import { webhookOpening } from '../../../test/support/webhook-stage.ts'
import { newId } from '../../kernel/id.ts'
import { NotNow, type PlanInput, TargetError } from '../driver.ts'
import { saveWebhookOutcome } from '../webhook-act-store.ts'
import { webhook } from './webhook.ts'

const db = await testDatabase()
const signal = new AbortController().signal
const hours = (count: number) => new Date(Date.now() + count * 3_600_000)
const newSecret = () => webhook.makeSecrets().signing_secret ?? ''

const newInput = (): PlanInput => ({
  grant_id: newId(),
  first_grant_id: newId(),
  user: { id: newId(), email: 'ada@example.com', name: 'Ada', external_id: 'ext-1' },
  resource: { type: 'cloud_account', id: 'a' },
  account_id: 'a',
  permission_set: null,
  action: 'read',
  duration_seconds: 3_600,
  audit_session: true,
})

/** A receiver and a driver for it. */
async function stage(more: Record<string, unknown> = {}, behaviour: { later?: number } = {}) {
  const signing_secret = newSecret()
  const receiver = await startReceiver(signing_secret, behaviour)
  after(() => receiver.stop())
  const { opening, tx } = await webhookOpening(db, { url: receiver.url, signing_secret, ...more })
  const driver = webhook.open(opening)
  const { target, ...plan } = await driver.plan(tx, newInput(), signal)
  return {
    receiver,
    opening,
    tx,
    driver,
    plan,
    target,
    grant: (end = hours(1)) => driver.grant(tx, target, end, signal),
    revoke: () => driver.revoke(tx, target, signal),
    poll: (reference: string) => driver.poll(tx, target, reference, signal),
    verify: (end: Date | null) => driver.verify(tx, target, end, signal),
    last: (): Received => receiver.received.at(-1) ?? assert.fail('no message arrived'),
    ids: () => receiver.received.filter(({ type }) => /grant|revoke/.test(type)).map(({ id }) => id),
  }
}

const refusal = (kind: TargetError['kind'], says: RegExp) => (error: unknown) => {
  assert.ok(error instanceof TargetError, String(error))
  assert.equal(error.kind, kind)
  assert.match(error.message, says)
  return true
}

suite('an act', () => {
  test('names the user, the entitlement, the end, and the callback for its result', async () => {
    const { grant, last, target, opening } = await stage()
    const end = hours(1)
    await grant(end)
    const { key, ...fields } = target
    const { tenant_id, provisioner_id } = opening
    const callback = { url: `http://127.0.0.1/v1/provisioners/${provisioner_id}/results`, tenant_id }
    assert.deepEqual(last().data, { ...fields, until: end.toISOString(), callback })
  })

  test('is retried with the same message after a lost answer, and takes effect once', async () => {
    const { grant, ids, receiver } = await stage()
    receiver.behave = (_received, usual) => {
      usual()
      receiver.behave = (_again, answer) => answer()
      return { status: 503 }
    }
    const end = hours(1)
    await assert.rejects(grant(end), refusal('transient', /503/))
    await grant(new Date(end.getTime() + 30_000))
    const [first, second] = ids()
    assert.equal(second, first)
    assert.deepEqual(receiver.received.at(-1)?.data, receiver.received.at(-2)?.data)
    assert.equal(receiver.held.size, 1)
  })

  test('has a new message id after a definite answer, and with another type or another end', async () => {
    const { grant, revoke, ids, receiver } = await stage()
    await grant()
    await grant()
    await revoke()
    receiver.behave = () => ({ status: 400, body: { message: 'no such group' } })
    await assert.rejects(grant(), refusal('permanent', /400: no such group/))
    receiver.behave = () => ({ status: 500 })
    await assert.rejects(grant(), refusal('transient', /500/))
    await assert.rejects(grant(hours(2)), refusal('transient', /500/))
    assert.equal(new Set(ids()).size, 6)
  })

  test('has a later timestamp than the act before it, even if the database clock was set back', async () => {
    const { grant, revoke, last, tx } = await stage()
    await grant()
    const ahead = hours(1)
    await db.asSuperuser('update webhook_act set begun_at = $2 where tenant_id = $1', [tx.tenant_id, ahead])
    await revoke()
    assert.ok(Date.parse(last().timestamp) > ahead.getTime(), last().timestamp)
  })

  test('without a final answer shows its reference and is polled with the same message until it is done', async () => {
    const { grant, poll, receiver, ids } = await stage({}, { later: 2 })
    const begun = await grant()
    assert.ok(!begun.done)
    assert.equal(begun.reference, `job-${ids()[0]}`)
    assert.deepEqual(await poll(begun.reference), begun)
    assert.deepEqual(await poll(begun.reference), { done: true, reference: begun.reference })
    assert.equal(new Set(ids()).size, 1)
    assert.equal(receiver.held.size, 1)
  })

  test('makes no further call once its result was reported', async () => {
    const { grant, poll, receiver, tx, opening, ids } = await stage({}, { later: 99 })
    const begun = await grant()
    assert.ok(!begun.done)
    const [id = ''] = ids()
    await saveWebhookOutcome(tx, { ...opening, id }, 'failed', 'nobody\n approved   it')
    // The first result counts.
    await saveWebhookOutcome(tx, { ...opening, id }, 'done', null)
    const calls = receiver.received.length
    await assert.rejects(poll(begun.reference), refusal('permanent', /^nobody approved it$/))
    assert.equal(receiver.received.length, calls)
  })

  test('counts as done when a later act replaces it', async () => {
    const { grant, revoke, poll } = await stage({}, { later: 99 })
    const begun = await grant()
    assert.ok(!begun.done)
    await revoke()
    assert.deepEqual(await poll(begun.reference), { done: true, reference: begun.reference })
  })
})

suite('a receiver', () => {
  test('may name the entitlement and set the length of sessions', async () => {
    const { driver, tx, receiver } = await stage()
    receiver.behave = (_received, usual) => ({
      status: 200,
      body: { ...(usual().body as object), entitlement: 'readers/ada', session_seconds: 900 },
    })
    const input = newInput()
    const one = await driver.plan(tx, input, signal)
    const other = await driver.plan(tx, { ...newInput(), user: input.user, action: 'list' }, signal)
    assert.equal(one.key, other.key)
    assert.notEqual((await driver.plan(tx, newInput(), signal)).key, one.key)
    assert.equal(one.session_seconds, 900)
    receiver.behave = (_received, usual) => usual()
    await driver.grant(tx, one.target, hours(1), signal)
    assert.ok(receiver.held.has('readers/ada'))
  })

  test('that answers 429 is not called again before its Retry-After, and no act fails', async () => {
    const { grant, receiver, verify } = await stage()
    receiver.behave = () => ({ status: 429, headers: { 'retry-after': '120' } })
    await assert.rejects(grant(), (error) => error instanceof NotNow && error.after_ms === 120_000)
    const calls = receiver.received.length
    await assert.rejects(verify(hours(1)), (error) => error instanceof NotNow && error.after_ms > 60_000)
    assert.equal(receiver.received.length, calls)
  })

  test('that answers 429 to grants still gets revocations', async () => {
    const { grant, revoke, receiver } = await stage()
    receiver.behave = ({ type }, usual) =>
      type === 'access.grant' ? { status: 429, headers: { 'retry-after': '3600' } } : usual()
    await assert.rejects(grant(), NotNow)
    assert.equal((await revoke()).done, true)
  })

  test('gets no more calls at once than its limit, and revocations do not wait behind grants', async () => {
    const { driver, tx, target, receiver } = await stage({ calls_at_once: 4 })
    let now = 0
    let most = 0
    const waiting: (() => void)[] = []
    receiver.behave = async ({ type }, usual) => {
      now += 1
      most = Math.max(most, now)
      if (type === 'access.grant') await new Promise<void>((go) => waiting.push(go))
      now -= 1
      return usual()
    }
    const giving = Array.from({ length: 6 }, (_, index) =>
      driver.grant(tx, { ...target, key: `k${index}`, entitlement: `e${index}` }, hours(1), signal),
    )
    await until('all places for grants are taken', () => Promise.resolve(waiting.length === 2))
    await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        driver.revoke(tx, { ...target, key: `t${index}`, entitlement: `t${index}` }, signal),
      ),
    )
    assert.equal(waiting.length, 2)
    const letting = setInterval(() => waiting.shift()?.(), 5)
    await Promise.all(giving)
    clearInterval(letting)
    assert.ok(most <= 4, `${most} at once`)
  })

  test('may hold the old or the new secret during the overlap of a rotation (S7)', async () => {
    const { opening, tx, receiver, target } = await stage()
    const renewed = { ...opening, config: { ...opening.config, signing_secret: newSecret() } }
    const overlapping = webhook.open({ ...renewed, previous: { signing_secret: receiver.secret } })
    await overlapping.grant(tx, target, hours(1), signal)
    receiver.secret = renewed.config.signing_secret
    await overlapping.revoke(tx, target, signal)
    receiver.secret = String(opening.config.signing_secret)
    await assert.rejects(webhook.open(renewed).grant(tx, target, hours(1), signal), refusal('transient', /401/))
  })

  test('that accepts a wrong signature fails the health check', async () => {
    const { driver, tx, receiver } = await stage()
    assert.deepEqual(
      (await driver.health(tx, signal)).map(({ ok }) => ok),
      [true, true, true],
    )
    assert.equal(receiver.refused, 1)
    receiver.secret = `whsec_${Buffer.alloc(32).toString('base64')}`
    const blind = webhook.open({
      ...(await webhookOpening(db, { url: receiver.url, signing_secret: receiver.secret })).opening,
    })
    const [, , refuses] = await blind.health(tx, signal)
    assert.equal(refuses?.ok, false)
    assert.match(refuses?.message ?? '', /verify signatures/)
  })
})

for (const [what, config] of [
  ['a receiver', {}],
  ['one that cannot verify', { verifies: false }],
] as const) {
  test(`${what} is asked for a later end than before, though access of that length was given`, async () => {
    const { grant, verify, tx } = await stage(config)
    // An hour, of which half is over when half an hour more is wanted.
    const [end, later] = [hours(0.5), hours(1)]
    await grant(end)
    await db.asSuperuser(`update webhook_act set begun_at = begun_at - interval '30 minutes' where tenant_id = $1`, [
      tx.tenant_id,
    ])
    assert.deepEqual([await verify(end), await verify(later)], ['held', 'ends_early'])
    await grant(later)
    assert.equal(await verify(later), 'held')
  })
}

suite('a receiver that cannot verify', () => {
  test('gets no plan or verify messages: the result of the last act counts', async () => {
    const { plan, grant, revoke, verify, receiver } = await stage({ verifies: false })
    assert.deepEqual([plan.held, plan.session_seconds, await verify(null)], [false, null, 'absent'])
    const end = hours(1)
    await grant(end)
    assert.deepEqual([await verify(end), await verify(null), await verify(hours(3))], ['held', 'held', 'ends_early'])
    await revoke()
    assert.deepEqual([await verify(hours(1)), await verify(null)], ['absent', 'absent'])
    assert.deepEqual(
      receiver.received.map(({ type }) => type),
      ['access.grant', 'access.revoke'],
    )
  })

  test('never confirms the desired state after an act without an answer, so that the act is repeated', async () => {
    const { grant, revoke, verify, receiver } = await stage({ verifies: false })
    receiver.behave = () => ({ status: 500 })
    await assert.rejects(grant())
    assert.deepEqual([await verify(hours(1)), await verify(null)], ['absent', 'held'])
    await assert.rejects(revoke())
    assert.deepEqual([await verify(hours(1)), await verify(null)], ['absent', 'held'])
  })
})
