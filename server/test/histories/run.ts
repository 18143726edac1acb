import { parseArgs } from 'node:util'
import { wholeNumber } from '../support/whole-number.ts'
import { campaign } from './campaign.ts'
import { findViolations } from './check.ts'
import { readHistory } from './kept.ts'
import { linesOf } from './print.ts'
import { report } from './report.ts'

const help = `npm run test:histories -- [options]

Records what five concurrent callers of two real processes on one database ask and are answered, in many short histories, and finds every
answer that contradicts another: a state that goes back, two winners, an acknowledged change that a later call does not see, a grant without
its approval. The rules, and what the service promises, are in server/test/histories/history.ts.

  --histories N  number of histories                                              (100)
  --kills N      of these, with one of the two processes killed in the middle       (10)
  --failovers N  of these, with a failover of the database, on a cluster of its own  (0)
  --parallel N   histories at a time, each on two processes and a PostgreSQL of its own (2)
  --seed N       seed of the first history; each further one adds 1             (random)
  --again FILE   only check a kept history again
  --help

A violation is printed with its seed and the two or three calls that contradict each other; the whole history goes into a file in
node_modules/.cache/histories. Exits with 1 on any. A seed repeats what is asked, not how the processes run: repeat a seed some times, with
\`--histories 1 --kills 0 --seed S\`. Ends at SIGTERM, with the figures so far.`

process.exitCode = await main().catch((error: unknown) => {
  console.error(error)
  return 1
})

async function main(): Promise<number> {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    options: {
      ...{ histories: text, kills: text, failovers: text, parallel: text, seed: text },
      again: text,
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(help)
    return 0
  }
  if (values.again !== undefined) return checkAgain(values.again)
  let isOver = false
  // Ignore repeated signals: ending abruptly here leaves services and databases behind.
  process.on('SIGTERM', () => {
    isOver = true
  })
  const [histories, failovers] = [wholeNumber(values.histories ?? '100'), wholeNumber(values.failovers ?? '0')]
  const kills = wholeNumber(values.kills ?? String(Math.min(10, histories - failovers)))
  if (kills + failovers > histories)
    throw new Error(`${kills} kills and ${failovers} failovers are more than ${histories} histories: raise --histories`)
  const parallel = wholeNumber(values.parallel ?? '2')
  if (parallel === 0) throw new Error('`--parallel` must be at least 1')
  const results = await campaign({
    ...{ histories, kills, failovers, parallel },
    seed: wholeNumber(values.seed ?? String(Math.floor(Math.random() * 1_000_000))),
    isOver: () => isOver,
    say: (line) => console.log(line),
  })
  return report(results, (line) => console.log(line)) ? 0 : 1
}

async function checkAgain(path: string): Promise<number> {
  const violations = findViolations(await readHistory(path))
  for (const line of violations.flatMap(linesOf)) console.log(line)
  console.log(`${violations.length} violations`)
  return violations.length === 0 ? 0 : 1
}
