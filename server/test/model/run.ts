import { parseArgs } from 'node:util'
import { wholeNumber } from '../support/whole-number.ts'
import { describe } from './report.ts'
import { type Guard, guards, type Options } from './state.ts'
import { walk } from './walk.ts'

const help = `npm run model -- [options]

Walks every state of a small world: two grants of one entitlement and the grant of another user, workers, people, a target that
acts at once, late or never, crashes, lost leases, changes by hand, time. The decisions are those of grants/convergence.ts, entitlement.ts,
grant-transition.ts and extension.ts themselves. Checks that access is neither lost nor left; prints the shortest way to a
state where it is, and exits with 1.

Without options, some three million states in three walks: one user with one disturbance and outages, two users with none, and the nearest
million with two disturbances and outages.

  --disturbances N   one walk with up to N disturbances, in all    (0 upwards with --without, until one is found)
  --ticks N          the last moment                               (3)
  --other-user       with the grant of another user
  --outages          time may pass while no process runs
  --max-states N     stop after so many states
  --without GUARD    take a guard out; several times for several guards
  --help

Guards:
${Object.entries(guards)
  .map(([name, without]) => `  ${name.padEnd(14)} without it, ${without}`)
  .join('\n')}
`

const bounded = 1_000_000

type Planned = Options & { maxStates: number }

process.exitCode = main()

function main(): number {
  const [text, flag] = [{ type: 'string' }, { type: 'boolean', default: false }] as const
  const { values } = parseArgs({
    options: {
      ...{ disturbances: text, ticks: text, 'max-states': text, help: flag, outages: flag, 'other-user': flag },
      without: { type: 'string', multiple: true, default: [] },
    },
  })
  if (values.help) {
    console.log(help)
    return 0
  }
  const without = values.without.map(guardOf)
  const maxStates = values['max-states'] === undefined ? Number.POSITIVE_INFINITY : wholeNumber(values['max-states'])
  const more = { ticks: wholeNumber(values.ticks ?? '3'), otherUser: values['other-user'], outages: values.outages }
  const one = (disturbances: number, about: Partial<Planned> = {}): Planned => ({
    ...{ disturbances, without, maxStates, ...more, ...about },
  })
  if (values.disturbances !== undefined) return run([one(wholeNumber(values.disturbances))])
  if (without.length > 0 || more.outages || more.otherUser)
    return run([one(0), one(1), one(2, { maxStates: 2 * bounded })])
  const outages = true
  return run([
    one(1, { outages }),
    one(0, { otherUser: true }),
    one(2, { outages, maxStates: Math.min(maxStates, bounded) }),
  ])
}

/** The walks in turn, up to the first counterexample. */
function run(all: readonly Planned[]): number {
  for (const { maxStates, ...options } of all) {
    const users = options.otherUser ? 'two users' : 'one user'
    console.log(`${users}, ${options.ticks + 1} moments, ${options.disturbances} disturbances`)
    const began = performance.now()
    const seconds = () => `${((performance.now() - began) / 1_000).toFixed(1)} s`
    const onProgress = (states: number, transitions: number, depth: number) =>
      console.log(`  ${states} states, ${transitions} transitions, ${depth} steps deep, ${seconds()}`)
    const { states, transitions, depth, isWhole, counterexample } = walk(options, { maxStates, onProgress })
    const memory = `${Math.round(process.memoryUsage().rss / 1_000_000)} MB`
    const extent = counterexample === undefined ? (isWhole ? 'every state: ' : 'the nearest: ') : ''
    console.log(`${extent}${states} states, ${transitions} transitions, ${depth} steps deep, ${seconds()}, ${memory}\n`)
    if (counterexample === undefined) continue
    console.log(describe(counterexample).join('\n'))
    return 1
  }
  console.log('every property holds')
  return 0
}

function guardOf(name: string): Guard {
  if (!Object.hasOwn(guards, name)) throw new Error(`there is no guard \`${name}\`: ${Object.keys(guards).join(', ')}`)
  return name as Guard
}
