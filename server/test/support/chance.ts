import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { longVariable } from './race.ts'

/**
 * Random tests use the same seed in every usual run, so that a commit passes or fails regardless of chance. `node
 * server/test/run.ts --long` uses new seeds each time and prints the seed of a failure.
 */
const usualSeed = 20_261_122
const isLong = process.env[longVariable] !== undefined
if (!isLong) fc.configureGlobal({ seed: usualSeed })

/** A seed for random choices that fast-check does not make. */
export const anySeed = (): number => (isLong ? randomInt(1_000_000) : usualSeed)

export { fc }
