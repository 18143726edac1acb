import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { longVariable } from './race.ts'

/**
 * What is tried by chance is the same in every usual run: a commit passes or it does not, whatever it is that chance would
 * have found today. `node server/test/run.ts --long` draws anew each time, and prints the seed of what fails.
 */
const usualSeed = 20_261_122
const isLong = process.env[longVariable] !== undefined
if (!isLong) fc.configureGlobal({ seed: usualSeed })

/** What is drawn from, where it is not fast-check that draws. */
export const anySeed = (): number => (isLong ? randomInt(1_000_000) : usualSeed)

export { fc }
