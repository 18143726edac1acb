import { parseArgs } from 'node:util'
import { provisionerTypes } from '../../src/provisioners/provisioner.ts'
import { wholeNumber } from '../support/whole-number.ts'
import { campaign } from './campaign.ts'
import { anyBatch, crashPoints } from './crash-points.ts'
import { report } from './report.ts'

const help = `npm run test:kill -- [options]

First two services share one database: one is killed, or stopped past its lease and resumed. Then the real service is killed
(SIGKILL) at named steps of a grant's life and at random statements, and started again, with each type of provisioner: the
sandbox, a real PostgreSQL, a simulated AWS, a webhook receiver. Counts lost, dangling, doubled and unreported results; the
target itself reports what it holds. Ends with a table of the results so far, also at SIGTERM; exits with 1 on any fault.

  --kills N      number of kills, divided among the provisioners        (100)
  --provisioner TYPE  ${provisionerTypes.join(', ')} or all   (all)
  --parallel N   number of concurrent services, each on its own PostgreSQL (4)
  --seed N       seed of the first kill; each further one adds 1        (random)
  --point NAME   kill only at this point; see --list
  --shorten      end the leases of a killed process at once instead of after their real 20 s
  --list         list the points
  --help

A fault is printed with its seed and its point: \`npm run test:kill -- --kills 1 --seed S --provisioner TYPE --point "NAME"\`
repeats it.
Each change writes its audit entry in the same statement, so no crash can separate them; each check compares them.`

process.exitCode = await main().catch((error: unknown) => {
  console.error(error)
  return 1
})

async function main(): Promise<number> {
  const flag = { type: 'boolean', default: false } as const
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    options: {
      kills: text,
      parallel: text,
      seed: text,
      point: text,
      provisioner: text,
      shorten: flag,
      list: flag,
      help: flag,
    },
  })
  const all = [...crashPoints, ...anyBatch]
  if (values.help || values.list) {
    console.log(values.help ? help : all.map(({ name, what }) => `${name.padEnd(30)} ${what}`).join('\n'))
    return 0
  }
  const points = values.point === undefined ? all : all.filter(({ name }) => name === values.point)
  if (points.length === 0) throw new Error(`there is no point \`${values.point}\`; --list shows them`)
  const { provisioner = 'all' } = values
  const types = provisionerTypes.filter((type) => provisioner === 'all' || provisioner === type)
  if (types.length === 0)
    throw new Error(`there is no provisioner \`${provisioner}\`: ${provisionerTypes.join(', ')}, all`)
  let isOver = false
  // Ignore repeated signals: ending abruptly here leaves services and databases behind.
  process.on('SIGTERM', () => {
    isOver = true
  })
  const results = await campaign({
    types,
    kills: wholeNumber(values.kills ?? '100'),
    width: wholeNumber(values.parallel ?? '4'),
    seed: wholeNumber(values.seed ?? String(Math.floor(Math.random() * 1_000_000))),
    points,
    leases: values.shorten ? 'shortened' : 'real',
    pairs: values.point === undefined && types.includes('sandbox'),
    isOver: () => isOver,
    say: (line) => console.log(line),
  })
  return report(results, (line) => console.log(line)) ? 0 : 1
}
