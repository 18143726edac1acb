import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import type { Tx } from '../kernel/context.ts'
import { notFound } from '../kernel/errors.ts'
import { type Check, type Driver, type DriverType, NotNow, TargetError } from './driver.ts'
import { inTime } from './in-time.ts'
import { findOpening } from './open-provisioner.flow.ts'
import { ProvisionerHealth, type ProvisionerType } from './provisioner.ts'
import { withoutSecrets } from './provisioner-secrets.ts'
import { keepTest } from './provisioner-store.ts'

/** Less than a transaction may stand idle: that of a call with an `Idempotency-Key` does meanwhile. */
const maxTestMs = 8_000

const maxChecks = 50
const maxTextLength = 1_000

/** Looks at everything that giving access needs, changes nothing at the target, and keeps what was found. */
export const testProvisioner = (types: Readonly<Record<ProvisionerType, DriverType>>) =>
  operation({
    method: 'POST',
    path: '/v1/provisioners/{id}/test',
    summary: 'Test a provisioner',
    credential: 'any',
    scope: 'provisioners:write',
    params: IdParams,
    replies: { 200: ProvisionerHealth },
    errors: ['not_found'],
    async run(ctx, { params: { id } }) {
      const openable = await findOpening(ctx, id)
      if (openable === undefined) throw notFound('provisioner')
      const { found, secrets, opening } = openable
      // Its own, so that what others wait for at the target does not delay it.
      const driver = types[found.provisioner_type].open(opening)
      try {
        const sayable = (text: string) =>
          withoutSecrets(text, secrets).replaceAll('\0', '').slice(0, maxTextLength).toWellFormed()
        const checks = (await lookAt(driver, ctx.tx)).slice(0, maxChecks).map(({ what, ok, message }) => {
          return { what: sayable(what), ok, message: message === null ? null : sayable(message) }
        })
        return await keepTest(ctx, id, found.version, checks)
      } finally {
        void driver.close().catch(() => undefined)
      }
    },
  })

/** A target that does not let itself be looked at has not passed. */
async function lookAt(driver: Driver, tx: Tx): Promise<Check[]> {
  try {
    return await inTime(maxTestMs, (signal) => driver.health(tx, signal))
  } catch (error) {
    if (!(error instanceof TargetError || error instanceof NotNow)) throw error
    return [{ what: 'the target', ok: false, message: error.message }]
  }
}
