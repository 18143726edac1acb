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

const halves = { first: 0xd800, count: 0x800 }
/**
 * Any character: a `unit` of strings in place of fast-check's own `binary`, which makes a table of a million characters in each
 * process, for a second of processor.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat(0x10ffff - halves.count).map(
  (nth) => String.fromCodePoint(nth < halves.first ? nth : nth + halves.count),
  (character) => {
    const code = typeof character === 'string' ? character.codePointAt(0) : undefined
    if (code === undefined || character !== String.fromCodePoint(code)) throw new Error('not one character')
    return code < halves.first ? code : code - halves.count
  },
)

export { fc }
