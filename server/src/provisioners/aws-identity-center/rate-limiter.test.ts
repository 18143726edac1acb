import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { noTx, openAwsTarget, patient, toTheEnd } from '../../../test/support/aws-stage.ts'
import { NotNow } from '../driver.ts'
import { awsIdentityCenter } from './aws-identity-center.ts'
import type { QueueLimits } from './priority-queue.ts'
import { limitsOfAws, openRateLimiter } from './rate-limiter.ts'

const queueLimits = (more: Partial<QueueLimits> = {}): QueueLimits => ({
  urgent: false,
  until: performance.now() + 60_000,
  signal: patient,
  ...more,
})
const never = new Promise<string>(() => undefined)
const settled = () => new Promise((resolve) => setImmediate(resolve))

suite('calls', () => {
  test('that revoke go first, each kind in the order of arrival', async () => {
    // Slow enough that no queued call begins before all have arrived, even if the machine pauses for a moment.
    const rateLimiter = openRateLimiter({ callsASecond: 10, operations: 8 })
    const order: string[] = []
    const waitAndRecord = async (name: string, urgent: boolean) => {
      await rateLimiter.wait(queueLimits({ urgent }))
      order.push(name)
    }
    await Promise.all([
      waitAndRecord('first', false),
      waitAndRecord('grant 1', false),
      waitAndRecord('grant 2', false),
      waitAndRecord('revoke 1', true),
      waitAndRecord('revoke 2', true),
    ])
    assert.deepEqual(order, ['first', 'revoke 1', 'revoke 2', 'grant 1', 'grant 2'])
  })

  test('of work that began first go first, also if they come later; none goes before what is more urgent', async () => {
    const rateLimiter = openRateLimiter({ callsASecond: 10, operations: 8 })
    const order: string[] = []
    const waitAndRecord = async (name: string, more: Partial<QueueLimits>) => {
      await rateLimiter.wait(queueLimits(more))
      order.push(name)
    }
    const now = performance.now()
    await Promise.all([
      waitAndRecord('first', {}),
      waitAndRecord('a later work', { since: now - 1_000 }),
      waitAndRecord('a call of its own', {}),
      waitAndRecord('the first work', { since: now - 5_000 }),
      waitAndRecord('in the background', { since: now - 9_000, background: true }),
      waitAndRecord('a revoke', { since: now, urgent: true }),
    ])
    const expected = ['first', 'a revoke', 'the first work', 'a later work', 'a call of its own', 'in the background']
    assert.deepEqual(order, expected)
  })

  test('are fewer after one was throttled', async () => {
    const limits = { callsASecond: 500, operations: 8, leastCallsASecond: 20 }
    const rateLimiter = openRateLimiter(limits)
    assert.deepEqual([rateLimiter.callsASecond(), rateLimiter.isThrottled()], [500, false])
    await rateLimiter.wait(queueLimits())
    rateLimiter.throttled(performance.now())
    assert.ok(rateLimiter.callsASecond() < 100)
    assert.ok(rateLimiter.isThrottled())
    await rateLimiter.wait(queueLimits())
  })

  test('that would wait past their deadline are postponed with a time to retry, and do not fail', async () => {
    const rateLimiter = openRateLimiter({ callsASecond: 1, operations: 8 })
    await rateLimiter.wait(queueLimits())
    await assert.rejects(rateLimiter.wait(queueLimits({ until: performance.now() + 500 })), (error) => {
      assert.ok(error instanceof NotNow)
      assert.ok(error.after_ms >= 250 && error.after_ms <= 1_000, `${error.after_ms}`)
      return true
    })
  })

  test('that are aborted use no slot', async () => {
    // A second apart, so that the aborted call is still in the queue.
    const rateLimiter = openRateLimiter({ callsASecond: 1, operations: 8 })
    const controller = new AbortController()
    await rateLimiter.wait(queueLimits())
    const given = rateLimiter.wait(queueLimits({ signal: controller.signal }))
    const next = rateLimiter.wait(queueLimits())
    controller.abort(new Error('gone'))
    await assert.rejects(given, /gone/)
    await next
  })
})

suite('operations', () => {
  const operation = (account: string, key: string, name = 'create') => ({ account, key, name })

  test('run one at a time in an account, and at most as many as the limit', async () => {
    const rateLimiter = openRateLimiter({ callsASecond: 1_000, operations: 2 })
    const begun: string[] = []
    const begin = (account: string, key: string) =>
      rateLimiter.operate(operation(account, key), queueLimits(), async () => {
        begun.push(key)
        return `id of ${key}`
      })
    await begin('a', 'a1')
    const second = begin('a', 'a2')
    await begin('b', 'b1')
    const third = begin('c', 'c1')
    await settled()
    assert.deepEqual(begun, ['a1', 'b1'])
    assert.ok(rateLimiter.isAwaited())
    rateLimiter.ended('id of b1')
    await third
    assert.deepEqual(begun, ['a1', 'b1', 'c1'])
    rateLimiter.ended('id of a1')
    await second
    assert.deepEqual(begun, ['a1', 'b1', 'c1', 'a2'])
    assert.ok(!rateLimiter.isAwaited())
  })

  test('on one assignment are not begun again while they are in progress', async () => {
    const rateLimiter = openRateLimiter({ callsASecond: 1_000, operations: 2 })
    await rateLimiter.operate(operation('a', 'a1'), queueLimits(), async () => 'the id')
    const again = await rateLimiter.operate(operation('a', 'a1'), queueLimits(), () => never)
    assert.equal(again, 'the id')
  })

  test('in the other direction are begun anyway: AWS knows whether the first is still in progress', async () => {
    const rateLimiter = openRateLimiter({ callsASecond: 1_000, operations: 2 })
    await rateLimiter.operate(operation('a', 'a1'), queueLimits(), async () => 'a grant')
    const revoke = await rateLimiter.operate(operation('a', 'a1', 'delete'), queueLimits(), async () => 'a revoke')
    assert.equal(revoke, 'a revoke')
  })

  test('that another process began count from the first poll', async () => {
    const rateLimiter = openRateLimiter({ callsASecond: 1_000, operations: 1 })
    rateLimiter.underWay('theirs', 'a')
    const ours = rateLimiter.operate(operation('b', 'b1'), queueLimits(), async () => undefined)
    await settled()
    rateLimiter.ended('theirs')
    assert.equal(await ours, undefined)
  })
})

test('calls respect the rate of AWS and one operation at a time in an account; revocations go first (F7)', async () => {
  const { aws, opening, sets, inputFor } = await openAwsTarget({
    rate: 20,
    outstanding: 10,
    acts: { ms: 150, checks: 0 },
  })
  const accounts = Array.from({ length: 10 }, () => aws.addAccount())
  const driver = awsIdentityCenter.open(opening)
  const targetsOf = (principal_id: string) =>
    accounts.map((account_id) => ({ account_id, principal_id, permission_set_arn: sets.ReadOnly }))
  const [leaving, coming] = [
    targetsOf(inputFor({ type: 'cloud_account', id: '' }, '').principal_id),
    targetsOf(inputFor({ type: 'cloud_account', id: '' }, '').principal_id),
  ]
  for (const { account_id, principal_id } of leaving) aws.assignByHand(account_id, sets.ReadOnly, principal_id)
  const inAnHour = new Date(Date.now() + 3_600_000)
  await Promise.all([
    ...coming.map((one) => toTheEnd(driver, one, () => driver.grant(noTx, one, inAnHour, patient))),
    ...leaving.map((one) => toTheEnd(driver, one, () => driver.revoke(noTx, one, patient))),
  ])
  assert.deepEqual(new Set(aws.assignments().map(({ principal }) => principal)), new Set([coming[0]?.principal_id]))
  const refused = aws.entries().filter(({ service, outcome }) => service === 'sso' && outcome !== 'ok')
  assert.deepEqual(refused, [], 'AWS refused no call')
  assert.ok(aws.mostOutstanding() <= limitsOfAws.operations, `${aws.mostOutstanding()} at once`)
  assert.ok(aws.busiestSecond('sso') <= 20, `${aws.busiestSecond('sso')} in a second`)
  assert.deepEqual(aws.overtakenRevokes(), [])
  assert.equal(aws.needlessGrants(), 0)
  await driver.close()
})
