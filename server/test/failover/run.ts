import { parseArgs } from 'node:util'
import { provisionerTypes } from '../../src/provisioners/provisioner.ts'
import { wholeNumber } from '../support/whole-number.ts'
import { report } from './report.ts'
import { maxLateSeconds } from './timed-ends.ts'
import { runTrial } from './trial.ts'

const help = `npm run test:failover -- [options]

Two services on a PostgreSQL that is highly available: three servers under Patroni, which keeps its state in etcd, behind HAProxy. Users request
and return access while the primary is replaced: by a planned switchover, because it is killed (SIGKILL to its Patroni and its whole
PostgreSQL), or because it stands still until another one leads (SIGSTOP), and then continues. After each, everything comes to rest, and nothing
may be lost that was answered, nothing doubled, and nothing left behind; the targets themselves report what they hold. Some access ends during
each failover: it must be gone from its target ${maxLateSeconds} s after its end, or after the database accepts writes again.
Some eight minutes. Ends with a table, also at SIGTERM; exits with 1 on any fault.

  --switchovers N  planned ones                                        (3)
  --kills N        killed primaries                                    (3)
  --stops N        stopped and continued primaries                     (3)
  --seed N         seed of the first; each further one adds 1          (random)
  --targets LIST   ${provisionerTypes.join(',')}  (webhook,postgresql)
  --asynchronous   without synchronous_mode: a killed primary loses what it has not sent. The trial must find that
  --lag N          before it is killed, a primary sends its standbys nothing for N seconds  (0)
  --help

Debian's programs are needed: apt-get install -y --no-install-recommends patroni etcd-server haproxy postgresql
Their services need not run: the trial starts its own, on free ports, as \`nobody\` where it runs as root.`

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  return 1
})

async function main(): Promise<number> {
  const flag = { type: 'boolean', default: false } as const
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    options: {
      ...{ switchovers: text, kills: text, stops: text, seed: text, targets: text, lag: text },
      ...{ asynchronous: flag, help: flag },
    },
  })
  if (values.help) {
    console.log(help)
    return 0
  }
  let isOver = false
  // Ending abruptly here would leave services and databases behind.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      isOver = true
    })
  }
  const results = await runTrial({
    counts: {
      switchover: wholeNumber(values.switchovers ?? '3'),
      kill: wholeNumber(values.kills ?? '3'),
      stop: wholeNumber(values.stops ?? '3'),
    },
    seed: wholeNumber(values.seed ?? String(Math.floor(Math.random() * 1_000_000))),
    types: (values.targets ?? 'webhook,postgresql').split(',').map(typeOf),
    replication: values.asynchronous ? 'asynchronous' : 'strict',
    lagSeconds: wholeNumber(values.lag ?? '0'),
    isOver: () => isOver,
    say: (line) => console.log(line),
  })
  return report(results, (line) => console.log(line)) ? 0 : 1
}

function typeOf(name: string): (typeof provisionerTypes)[number] {
  const type = provisionerTypes.find((one) => one === name)
  if (type === undefined) throw new Error(`there is no target \`${name}\`: ${provisionerTypes.join(', ')}`)
  return type
}
