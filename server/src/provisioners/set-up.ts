import { Problem } from '../kernel/errors.ts'
import { type Config, type DriverType, type Instructions, NotNow, type Opening, TargetError } from './driver.ts'
import { inTime } from './in-time.ts'

/** The fields of the config that its test has still to find at the target, before anything can be given. */
export function fieldsToFind({ setUp }: DriverType, config: Config): string[] {
  return (setUp?.foundFields ?? []).filter((name) => config[name] === undefined)
}

/** @throws Problem 422 when the provisioner would be enabled although nothing can be given through it yet */
export function requireFound(type: DriverType, config: Config): void {
  const names = fieldsToFind(type, config).map((name) => `\`${name}\``)
  if (names.length === 0) return
  const fix = 'test it first, which finds and keeps them, or name them in the config'
  throw new Problem('unprocessable', `the provisioner cannot be enabled without ${names.join(' and ')}: ${fix}`)
}

/** A slow target must not hold up the reply, which alone has the secrets. */
const maxDescribeMs = 4_000

/** What is to be made at the target, with the secrets that are shown now; undefined where nothing is. */
export async function describeSetUp({ setUp }: DriverType, opening: Opening): Promise<Instructions | undefined> {
  if (setUp === undefined) return undefined
  try {
    return await inTime(maxDescribeMs, (signal) => setUp.describe(opening, signal))
  } catch (error) {
    if (!(error instanceof TargetError)) throw error
    return { identity: null, note: error.message, snippets: [] }
  }
}

/** The fields that the target says itself; none where it does not, and the checks of the test say why. */
export async function findAtTarget(type: DriverType, opening: Opening, maxMs: number): Promise<Config> {
  const { setUp } = type
  if (setUp === undefined || fieldsToFind(type, opening.config).length === 0) return {}
  try {
    return await inTime(maxMs, (signal) => setUp.find(opening, signal))
  } catch (error) {
    if (!(error instanceof TargetError || error instanceof NotNow)) throw error
    return {}
  }
}
