import { isDeepStrictEqual } from 'node:util'
import type { Egress } from '../kernel/context.ts'
import { invalidInput } from '../kernel/errors.ts'
import { findChanged, redacted, splitConfig } from '../secrets/sealed-config.ts'
import type { DriverType } from './driver.ts'
import type { ProvisionerSecrets } from './provisioner-secrets.ts'

type Config = Record<string, unknown>

/** A config as it is shown, with its secrets. */
export type WholeConfig = { config: Config; secrets: ProvisionerSecrets }

/** What a config that was asked for comes to. `moved`: the first field that leads to another target than before. */
export type SettledConfig = WholeConfig & { moved: string | undefined }

/** Whether a config that was sent would change nothing. */
export function isSameConfig(asked: Config, { config, secrets }: WholeConfig): boolean {
  return isDeepStrictEqual({ ...redactedOf(secrets.made), ...asked }, config)
}

/**
 * Settles what a caller sent to replace `before`. Secrets that we made stay: they are named there, and nobody sets them.
 * @throws Problem 400 for what `splitConfig` refuses, for a secret of ours, and for what the type finds faulty
 */
export async function settleConfig(
  type: DriverType,
  asked: Config,
  before: WholeConfig,
  egress: Egress,
): Promise<SettledConfig> {
  const { made, given } = before.secrets
  const madeNames = Object.keys(made)
  const set = madeNames.filter((name) => Object.hasOwn(asked, name) && asked[name] !== before.config[name])
  if (set.length > 0) {
    const why = 'is made for you, and nobody sets it: leave it out; POST …/rotate-secret makes it anew'
    throw invalidInput(set.map((name) => ({ pointer: `/config/${name}`, why })))
  }
  const shownBefore = { config: without(before.config, madeNames), secrets: given }
  const split = splitConfig(without(asked, madeNames), type.shownFields, shownBefore)
  const faults = await type.findFaults({ ...split.config, ...split.secrets, ...made }, egress)
  if (faults.length > 0) throw invalidInput(faults)
  return {
    config: { ...split.config, ...redactedOf(made) },
    secrets: { ...before.secrets, given: split.secrets },
    moved: findChanged(type.targetFields, split, shownBefore),
  }
}

function without(config: Config, names: readonly string[]): Config {
  return Object.fromEntries(Object.entries(config).filter(([name]) => !names.includes(name)))
}

function redactedOf(made: Readonly<Record<string, string>>): Config {
  return Object.fromEntries(Object.keys(made).map((name) => [name, redacted]))
}
