import type { Driver } from './driver.ts'
import { TargetError } from './driver.ts'
import { type ProvisionerSecrets, withoutSecrets } from './provisioner-secrets.ts'

/**
 * A driver whose errors contain none of its secrets: the requester sees the target's answer, and some targets repeat what
 * they were sent.
 */
export function discreetDriver(driver: Driver, secrets: ProvisionerSecrets): Driver {
  const discreet = (error: unknown) =>
    error instanceof TargetError ? new TargetError(error.kind, withoutSecrets(error.message, secrets)) : error
  const guarded =
    <Args extends unknown[], Answer>(call: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      try {
        return await call(...args)
      } catch (error) {
        throw discreet(error)
      }
    }
  const { discover, setPassword, readInventory, readDirectory } = driver
  return {
    ...driver,
    plan: guarded(driver.plan),
    grant: guarded(driver.grant),
    revoke: guarded(driver.revoke),
    poll: guarded(driver.poll),
    verify: guarded(driver.verify),
    health: guarded(driver.health),
    setPassword: setPassword && guarded(setPassword),
    discover: discover && ((...args) => discreetly(discover(...args), discreet)),
    readInventory: readInventory && ((...args) => discreetly(readInventory(...args), discreet)),
    readDirectory: readDirectory && ((...args) => discreetly(readDirectory(...args), discreet)),
  }
}

async function* discreetly<Page>(
  pages: AsyncIterable<Page>,
  discreet: (error: unknown) => unknown,
): AsyncGenerator<Page> {
  try {
    yield* pages
  } catch (error) {
    throw discreet(error)
  }
}
