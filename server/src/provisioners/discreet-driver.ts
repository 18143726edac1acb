import type { Driver } from './driver.ts'
import { NoPlaceForClaim, NotNow, TargetError } from './driver.ts'
import { type ProvisionerSecrets, withoutSecrets } from './provisioner-secrets.ts'

/**
 * A driver whose errors contain none of its secrets: the requester sees the target's answer, and some targets repeat what
 * they were sent.
 */
export function discreetDriver(driver: Driver, secrets: ProvisionerSecrets): Driver {
  const guarded =
    <Args extends unknown[], Answer>(call: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      try {
        return await call(...args)
      } catch (error) {
        throw discreetError(error, secrets)
      }
    }
  const { discover, discoverForeign, setPassword, readInventory, readDirectory, claims } = driver
  return {
    ...driver,
    plan: guarded(driver.plan),
    grant: guarded(driver.grant),
    revoke: guarded(driver.revoke),
    poll: guarded(driver.poll),
    verify: guarded(driver.verify),
    health: guarded(driver.health),
    claims: claims && { read: guarded(claims.read), write: guarded(claims.write) },
    setPassword: setPassword && guarded(setPassword),
    discover: discover && ((...args) => discreetly(discover(...args), secrets)),
    ...(discoverForeign && { discoverForeign: (signal) => discreetly(discoverForeign(signal), secrets) }),
    readInventory: readInventory && ((...args) => discreetly(readInventory(...args), secrets)),
    readDirectory: readDirectory && ((...args) => discreetly(readDirectory(...args), secrets)),
  }
}

/** The same pages, whose errors contain none of these secrets. */
export async function* discreetly<Page>(pages: AsyncIterable<Page>, secrets: ProvisionerSecrets): AsyncGenerator<Page> {
  try {
    yield* pages
  } catch (error) {
    throw discreetError(error, secrets)
  }
}

function discreetError(error: unknown, secrets: ProvisionerSecrets): unknown {
  if (error instanceof NoPlaceForClaim) return new NoPlaceForClaim(withoutSecrets(error.message, secrets))
  if (error instanceof TargetError)
    return new TargetError(error.kind, withoutSecrets(error.message, secrets), error.unbegun)
  if (error instanceof NotNow && error.why !== null)
    return new NotNow(error.after_ms, withoutSecrets(error.why, secrets))
  return error
}
