import assert from 'node:assert/strict'
import { convergeEntitlement } from '../../src/grants/converge-entitlement.job.ts'
import { planGrant } from '../../src/grants/plan-grant.job.ts'
import { sweepProvisioner } from '../../src/grants/sweep-provisioner.job.ts'
import { awsIdentityCenterAt } from '../../src/provisioners/aws-identity-center/aws-identity-center.ts'
import type { Drivers } from '../../src/provisioners/drivers.ts'
import { reauthorize } from '../../src/requests/reauthorize-request.flow.ts'
import { openAwsTarget } from './aws-stage.ts'
import { driftStage } from './drift-stage.ts'
import type { House } from './house.ts'
import { startWorkers } from './workers.ts'

type Limits = Parameters<typeof awsIdentityCenterAt>[0]

/** A tenant whose access is given at a simulated AWS by the ledger's own workers. */
export async function awsLedgerStage(
  house: House,
  name: string,
  limits: Limits,
  settings: Parameters<typeof openAwsTarget>[0] = {},
) {
  const on = await driftStage(house, name)
  const target = await openAwsTarget(settings)
  const { aws, opening } = target
  const driver = awsIdentityCenterAt(limits).open({ ...opening, tenant_id: on.tenant_id })
  const drivers: Drivers = { of: async () => driver, beat: async () => true, close: driver.close }
  const workers = startWorkers(house, [
    planGrant(drivers),
    ...convergeEntitlement(drivers, reauthorize),
    sweepProvisioner(drivers),
  ])
  house.atEnd(driver.close)
  aws.addUser('user@example.com')

  const onAccount = () => on.ask(on.account(aws.addAccount()))
  const onBucket = (bucket: string, account_id = aws.addAccount()) =>
    on.ask({
      resource: { type: 'cloud_storage_bucket', id: bucket },
      action: 'read',
      metadata: { account_id },
    })
  /** Ends the access of requests at once. */
  const endAll = async (request_ids: readonly string[]) => {
    for (const id of request_ids) for (const grant of await on.grantsOf(id)) await on.revoke({ grant: grant.id })
  }
  /** No throttled call has counted as a failure of the target. */
  const requireNoFailure = async () => {
    const failed = await house.asSuperuser(
      `select last_error from entitlement where tenant_id = $1 and failures > 0
        union all select last_error from access_grant where tenant_id = $1 and (failures > 0 or alarmed_at is not null)
        union all select type from event where tenant_id = $1 and type = 'grant.failed'`,
      [on.tenant_id],
    )
    assert.deepEqual(failed, [])
  }
  /** Each `every`th call to Identity Center is throttled; returns a function that ends that. */
  const throttle = (every: number) =>
    aws.always({ operation: '*', service: 'sso', every }, { error: 'ThrottlingException' })
  return { ...on, ...target, workers, onAccount, onBucket, endAll, requireNoFailure, throttle }
}
