import fc from 'fast-check'
import { longVariable } from './race.ts'

/**
 * What is tried by chance is the same in every usual run: a commit passes or it does not, whatever it is that chance would
 * have found today. `node server/test/run.ts --long` draws anew each time, and prints the seed of what fails.
 */
if (process.env[longVariable] === undefined) fc.configureGlobal({ seed: 20_261_122 })

export { fc }
