import assert from 'node:assert/strict'
import { test } from 'node:test'
import { awsLedgerStage } from '../../../test/support/aws-ledger-stage.ts'
import { openHouse } from '../../../test/support/house.ts'
import { until } from '../../../test/support/wait.ts'

/** AWS throttles calls, however few they are. */
const house = await openHouse()
/** Faster than AWS's own, so that minutes of AWS are seconds here. */
const limits = { callsASecond: 100, operations: 8, leastCallsASecond: 30, retryMs: 20 }

for (const every of [8, 3]) {
  test(`one call in ${every} is throttled: asks become active and end, and nothing has failed (F20)`, async () => {
    const on = await awsLedgerStage(house, `throttled ${every}`, limits)
    const end = on.throttle(every)
    const asks = await Promise.all([
      ...['one', 'two', 'three'].map(() => on.onAccount()),
      ...['logs-1', 'logs-2', 'logs-3'].map((bucket) => on.onBucket(bucket)),
    ])
    for (const ask of asks) await on.grantsAre(ask, 'active', 'successful')
    assert.equal(on.aws.assignments().length, 6)
    await on.endAll(asks)
    for (const ask of asks) await on.grantsAre(ask, 'revoked', 'deprovisioned')
    assert.deepEqual(on.aws.assignments(), [])
    const throttled = on.aws.entries().filter(({ outcome }) => outcome === 'ThrottlingException')
    assert.ok(throttled.length > 5, `${throttled.length} calls were throttled`)
    // Six asks take 70 calls without throttling, beside the polls. None that AWS has answered is repeated.
    const answered = on.aws.entries().filter(({ service, operation, outcome }) => {
      return service === 'sso' && outcome === 'ok' && !operation.endsWith('Status')
    })
    assert.ok(answered.length <= 80, `${answered.length} calls were answered`)
    await on.requireNoFailure()
    end()
    await on.workers.stop()
  })
}

test('while AWS throttles all calls, a grant says so without a failure, and goes on afterwards (F20)', async () => {
  const on = await awsLedgerStage(house, 'throttled all', { ...limits, repeatMs: 100 })
  const ends = ['CreateAccountAssignment', 'DeleteAccountAssignment'].map((operation) =>
    on.aws.always(operation, { error: 'ThrottlingException' }),
  )
  const ask = await on.onBucket('logs')
  const [grant] = await on.grantsAre(ask, 'pending', 'attempting')
  assert.ok(grant)
  const progress = async () => (await on.view({ grant: grant.id })).provisioning
  const saysSo = async () => /^AWS throttles/.test(String((await progress()).last_error))
  await until('the grant says that AWS throttles', saysSo)
  const { step, failures } = await progress()
  assert.deepEqual([step, failures], ['giving', 0])
  ends[0]?.()
  await on.grantsAre(ask, 'active', 'successful')
  assert.equal((await progress()).last_error, null)
  await on.endAll([ask])
  await until('the grant says that AWS throttles', saysSo)
  ends[1]?.()
  await on.grantsAre(ask, 'revoked', 'deprovisioned')
  await on.requireNoFailure()
  await on.workers.stop()
})

test('an act that was throttled goes on where it was, and repeats no call that AWS has answered (F20)', async () => {
  const on = await awsLedgerStage(house, 'throttled act', { ...limits, repeatMs: 100 })
  const end = on.aws.always('CreateAccountAssignment', { error: 'ThrottlingException' })
  const ask = await on.onBucket('logs')
  await until('the act was interrupted three times', async () => {
    const [{ times = 0 } = {}] = await house.asSuperuser<{ times: number }>(
      `select generation::int as times from entitlement where tenant_id = $1`,
      [on.tenant_id],
    )
    return times > 4
  })
  end()
  await on.grantsAre(ask, 'active', 'successful')
  const answered = (operation: string) => on.aws.entries(operation).filter(({ outcome }) => outcome === 'ok').length
  const once = ['CreatePermissionSet', 'PutInlinePolicyToPermissionSet', 'CreateAccountAssignment']
  assert.deepEqual(once.map(answered), [1, 1, 1])
  assert.equal(answered('ListTagsForResource'), 0)
  // Before the policy was put, and by the check at the end.
  assert.ok(answered('GetInlinePolicyForPermissionSet') <= 2)
  await on.workers.stop()
})
