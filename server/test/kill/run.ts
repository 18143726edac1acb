import { parseArgs } from 'node:util'
import { provisionerTypes } from '../../src/provisioners/provisioner.ts'
import { campaign } from './campaign.ts'
import { anyBatch, crashPoints } from './crash-points.ts'
import { report } from './report.ts'

const help = `npm run test:kill -- [options]

Two services share one database: one is killed, or stopped past its lease and woken again. Then the real service is killed
(SIGKILL) at named steps of a grant's life and at any statement by chance, and started again, with each type of provisioner:
the sandbox, a real PostgreSQL, a pretended AWS, a receiver of webhooks. Counts what was lost, left dangling, doubled or not
told, by the target's own word of what it holds. Ends with a table, at SIGTERM too, of what was done by then; exits 1 on any fault.

  --kills N      how many, dealt out to the provisioners                (100)
  --provisioner TYPE  ${provisionerTypes.join(', ')} or all   (all)
  --lanes N      how many services at once, each on a PostgreSQL of its own (4)
  --seed N       of the first kill; each one after has the next         (by chance)
  --point NAME   kill at this point alone; see --list
  --shorten      end the leases of the dead at once, instead of waiting their real 20 s
  --list         the points
  --help

A fault is printed with its seed and its point: \`npm run test:kill -- --kills 1 --seed S --provisioner TYPE --point "NAME"\`
goes there again.
Each change writes its audit entry in the same statement, so no point lies between the two; each check holds them together.`

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
      lanes: text,
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
  // However often it is said: who dies here leaves services and databases behind.
  process.on('SIGTERM', () => {
    isOver = true
  })
  const results = await campaign({
    types,
    kills: wholeNumber(values.kills ?? '100'),
    lanes: wholeNumber(values.lanes ?? '4'),
    seed: wholeNumber(values.seed ?? String(Math.floor(Math.random() * 1_000_000))),
    points,
    leases: values.shorten ? 'shortened' : 'real',
    pairs: values.point === undefined && types.includes('sandbox'),
    isOver: () => isOver,
    say: (line) => console.log(line),
  })
  return report(results, (line) => console.log(line)) ? 0 : 1
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`\`${text}\` is no whole number`)
  return Number(text)
}
