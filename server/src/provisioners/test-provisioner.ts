import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import type { Tx } from '../kernel/context.ts'
import { notFound } from '../kernel/errors.ts'
import { type Check, type Driver, type DriverType, NotNow, TargetError } from './driver.ts'
import { inTime } from './in-time.ts'
import { findOpening } from './open-provisioner.flow.ts'
import { type BeginInventory, ProvisionerTestResult, type ProvisionerType } from './provisioner.ts'
import { withoutSecrets } from './provisioner-secrets.ts'
import { keepTest } from './provisioner-store.ts'
import { findAtTarget } from './set-up.ts'

/** Shorter than the limit for idle transactions: the transaction of a call with an `Idempotency-Key` is idle during the test. */
const maxTestMs = 8_000
/** Of this time, for what the target says of itself: the first call of a process also loads the target's library. */
const maxFindMs = 4_000

const maxChecks = 50
const maxTextLength = 1_000

/**
 * Checks everything that giving access needs, changes nothing at the target, and stores the result, and what the target says of itself that the
 * config leaves out.
 */
export const testProvisioner = (types: Readonly<Record<ProvisionerType, DriverType>>, beginInventory: BeginInventory) =>
  operation({
    method: 'POST',
    path: '/v1/provisioners/{id}/test',
    summary: 'Test a provisioner',
    credential: 'any',
    scope: 'provisioners:write',
    params: IdParams,
    replies: { 200: ProvisionerTestResult },
    errors: ['not_found'],
    async run(ctx, { params: { id } }) {
      const openable = await findOpening(ctx, id)
      if (openable === undefined) throw notFound('provisioner')
      const { found, secrets, opening } = openable
      const type = types[found.provisioner_type]
      const until = performance.now() + maxTestMs
      const fields = await findAtTarget(type, opening, maxFindMs)
      // A separate driver, so that other calls that wait for the target do not delay the test.
      const driver = type.open({ ...opening, config: { ...opening.config, ...fields } })
      try {
        const sanitized = (text: string) =>
          withoutSecrets(text, secrets).replaceAll('\0', '').slice(0, maxTextLength).toWellFormed()
        const checks = (await runChecks(driver, ctx.tx, until - performance.now()))
          .slice(0, maxChecks)
          .map(({ what, ok, message }) => {
            return { what: sanitized(what), ok, message: message === null ? null : sanitized(message) }
          })
        const passed = checks.every((check) => check.ok) && type.inventoryParts.length > 0
        const isFound = Object.keys(fields).length > 0
        const beside = passed ? [beginInventory(ctx.tx, id, type.inventoryParts, isFound)] : []
        return await keepTest(ctx, id, found.version, checks, { fields, beside })
      } finally {
        void driver.close().catch(() => undefined)
      }
    },
  })

/** A target that cannot be checked has failed the test. */
async function runChecks(driver: Driver, tx: Tx, maxMs: number): Promise<Check[]> {
  try {
    return await inTime(maxMs, (signal) => driver.health(tx, signal))
  } catch (error) {
    if (!(error instanceof TargetError || error instanceof NotNow)) throw error
    return [{ what: 'the target', ok: false, message: error.message }]
  }
}
