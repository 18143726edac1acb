import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { awsLedgerStage } from '../../../test/support/aws-ledger-stage.ts'
import { openHouse } from '../../../test/support/house.ts'
import { until } from '../../../test/support/wait.ts'
import { limitsOfAws } from './rate-limiter.ts'

/** With AWS's own limits, at which such asks take minutes. */
const house = await openHouse()
const on = await awsLedgerStage(house, 'ten minutes', limitsOfAws)
const [asksAtOnce, parts] = [40, 10]

suite('throttled 1 in 3 for ten minutes: asks progress (F20)', async () => {
  on.throttle(3)
  for (let number = 0; number < asksAtOnce / 2; number += 1) {
    await on.onAccount()
    await on.onBucket(`logs-${number}`)
  }
  const began = performance.now()
  // Some at a time, so that a stop is noticed where it is.
  for (let part = 1; part <= parts; part += 1) {
    const wanted = (asksAtOnce * part) / parts
    test(`${wanted} of ${asksAtOnce} become active`, async (t) => {
      await until(`${wanted} are active`, async () => (await activeNow()) >= wanted, 600_000)
      t.diagnostic(`after ${Math.round((performance.now() - began) / 1_000)} s`)
    })
  }

  test('nothing has failed, and nothing was given twice', async () => {
    await on.requireNoFailure()
    assert.equal(on.aws.needlessGrants(), 0)
    await on.workers.stop()
  })
})

async function activeNow(): Promise<number> {
  const active = await house.asSuperuser(`select from access_grant where tenant_id = $1 and activated_at is not null`, [
    on.tenant_id,
  ])
  return active.length
}
