import assert from 'node:assert/strict'
import { test } from 'node:test'
import { awsLedgerStage } from '../../../test/support/aws-ledger-stage.ts'
import { openHouse } from '../../../test/support/house.ts'
import { until } from '../../../test/support/wait.ts'
import { limitsOfAws } from './rate-limiter.ts'

/** With AWS's own limits, at which such asks take minutes. */
const house = await openHouse()
const asksAtOnce = 40

test('throttled 1 in 3 for ten minutes: asks progress (F20)', async (t) => {
  const on = await awsLedgerStage(house, 'ten minutes', limitsOfAws)
  on.throttle(3)
  for (let number = 0; number < asksAtOnce / 2; number += 1) {
    await on.onAccount()
    await on.onBucket(`logs-${number}`)
  }
  const began = performance.now()
  let seen = 0
  for (let part = 1; part <= 4; part += 1) {
    // Each quarter, so that a stop is noticed there.
    await until(
      `${part} quarters are active`,
      async () => {
        const active = await house.asSuperuser(
          `select from access_grant where tenant_id = $1 and activated_at is not null`,
          [on.tenant_id],
        )
        seen = active.length
        return seen >= (asksAtOnce * part) / 4
      },
      600_000,
    )
    t.diagnostic(`${seen} of ${asksAtOnce} asks active after ${Math.round((performance.now() - began) / 1_000)} s`)
  }
  await on.requireNoFailure()
  assert.equal(on.aws.needlessGrants(), 0)
  await on.workers.stop()
})
