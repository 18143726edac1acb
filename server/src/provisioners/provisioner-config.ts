import { isDeepStrictEqual } from 'node:util'
import type { Egress } from '../kernel/context.ts'
import { invalidInput } from '../kernel/errors.ts'
import { findChanged, redacted, splitConfig } from '../secrets/sealed-config.ts'
import type { DriverType } from './driver.ts'
import type { ProvisionerSecrets } from './provisioner-secrets.ts'

type Config = Record<string, unknown>

/** A config as shown, and its secrets. */
export type WholeConfig = { config: Config; secrets: ProvisionerSecrets }

/** A requested config after validation. `moved`: the first field whose change leads to another target. */
export type SettledConfig = WholeConfig & { moved: string | undefined }

/** Whether a requested config changes nothing. */
export function isSameConfig(requested: Config, { config, secrets }: WholeConfig): boolean {
  return isDeepStrictEqual({ ...redactedOf(secrets.made), ...requested }, config)
}

/**
 * Validates the config that replaces `before`. Generated secrets stay as they are, and callers cannot set them.
 * @throws Problem 400 for what `splitConfig` refuses, for a generated secret, and for the faults that the type finds
 */
export async function settleConfig(
  type: DriverType,
  requested: Config,
  before: WholeConfig,
  egress: Egress,
): Promise<SettledConfig> {
  const { made, given } = before.secrets
  const madeNames = Object.keys(made)
  const set = madeNames.filter((name) => Object.hasOwn(requested, name) && requested[name] !== before.config[name])
  if (set.length > 0) {
    const why = 'is generated and cannot be set: leave it out; POST …/rotate-secret generates a new one'
    throw invalidInput(set.map((name) => ({ pointer: `/config/${name}`, why })))
  }
  const shownBefore = { config: without(before.config, madeNames), secrets: given }
  const split = splitConfig(without(requested, madeNames), type.shownFields, shownBefore)
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
