import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAwsTarget } from '../../../test/support/aws-stage.ts'
import { openHouse } from '../../../test/support/house.ts'
import { requestStage } from '../../../test/support/request-stage.ts'
import { until } from '../../../test/support/wait.ts'
import { startWorkers } from '../../../test/support/workers.ts'
import { convergeEntitlement } from '../../grants/converge-entitlement.job.ts'
import { planGrant } from '../../grants/plan-grant.job.ts'
import { reauthorize } from '../../requests/reauthorize-request.flow.ts'
import type { Drivers } from '../drivers.ts'
import { awsIdentityCenterAt } from './aws-identity-center.ts'

/** Revocations do not queue behind grants. */
const house = await openHouse()
const on = await requestStage(house, 'ends first')
await on.rule('permit (principal, action, resource);')
const { aws, sets, opening } = await openAwsTarget({ acts: { ms: 300, checks: 1 } })
const operations = 8
const driver = awsIdentityCenterAt({ callsASecond: 1_000, operations }).open({ ...opening, tenant_id: on.tenant_id })
const drivers: Drivers = { of: async () => driver, beat: async () => true, close: driver.close }
const workers = startWorkers(house, [planGrant(drivers), ...convergeEntitlement(drivers, reauthorize)])
house.atEnd(driver.close)
aws.addUser('user@example.com')

/** Requests and approves one grant on each of so many new accounts. Returns the id of the request. */
function requestOn(accounts: number): Promise<string> {
  const account_ids = Array.from({ length: accounts }, () => aws.addAccount())
  const resource = { type: 'cloud_permission_set', id: sets.ReadOnly }
  return on.ask({ resource, action: 'ReadOnly', metadata: { account_ids } }).then(on.approve)
}

/** Long enough for a busy machine. */
const patienceMs = 100_000
const count = async (question: string, id: string) => (await house.asSuperuser(question, [id])).length

const begun = (operation: string) => aws.entries(operation).filter(({ outcome }) => outcome === 'ok')

test('ten ended grants are revoked first while a hundred others wait for the rate limit of the target', async () => {
  const ending = await requestOn(10)
  await on.grantsAre(ending, 'active', 'successful')
  // Until many wait, none of those that have begun comes to its end.
  aws.settings.acts = { ms: patienceMs, checks: 1 }
  for (let requests = 0; requests < 6; requests += 1) await requestOn(20)
  const planned = `select from entitlement where tenant_id = $1`
  await until('many are planned', async () => (await count(planned, on.tenant_id)) >= 80, patienceMs)
  aws.settings.acts = { ms: 300, checks: 1 }
  const due = performance.now()
  await house.asSuperuser(
    `with over as (
        update access_grant set expires_at = clock_timestamp(), expiring_at = null where request_id = $1
        returning entitlement_id)
      update entitlement set next_look_at = clock_timestamp() where id in (select entitlement_id from over)`,
    [ending],
  )
  const there = `select from access_grant where request_id = $1 and provisioning_status <> 'deprovisioned'`
  await until('the ten are gone', async () => (await count(there, ending)) === 0, patienceMs)
  const deletes = begun('DeleteAccountAssignment')
  assert.equal(deletes.length, 10)
  const last = deletes.at(-1)?.at ?? 0
  const creates = begun('CreateAccountAssignment')
  const before = creates.filter(({ at }) => at > due && at < last)
  assert.ok(before.length <= 2 * operations, `${before.length} grants went before the last revoke`)
  const left = 130 - creates.filter(({ at }) => at < last).length
  assert.ok(left > 50, `${left} grants were left to wait`)
  assert.deepEqual(aws.overtakenRevokes(), [])
  await workers.stop()
})
