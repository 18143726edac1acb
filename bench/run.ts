import { parseArgs } from 'node:util'
import { approvals } from './approvals.ts'
import type { Bench } from './bench.ts'
import { crowds } from './crowds.ts'
import { deliveries } from './deliveries.ts'
import { directory } from './directory.ts'
import { drafts } from './drafts.ts'
import { endpoints } from './endpoints.ts'
import { floods } from './floods.ts'
import { grants } from './grants.ts'
import { growth } from './growth.ts'
import { interactions } from './interactions.ts'
import { life } from './life.ts'
import { limit } from './limit.ts'
import { lives } from './lives.ts'
import { policy } from './policy.ts'
import { pull } from './pull.ts'
import { replays } from './replays.ts'
import { asMarkdown, writeReport } from './report.ts'

/** Every bench, by its name. */
const benches: Record<string, Bench> = {
  endpoints,
  grants,
  policy,
  replays,
  deliveries,
  floods,
  crowds,
  drafts,
  interactions,
  lives,
  life,
  limit,
  growth,
  approvals,
  directory,
  pull,
}

const options = {
  rounds: { type: 'string', default: '4' },
  seconds: { type: 'string', default: '2' },
  clients: { type: 'string', default: '16' },
  grants: { type: 'string', default: '10000' },
  miniature: { type: 'boolean', default: false },
  whole: { type: 'boolean', default: false },
  'no-write': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const help = `npm run bench [-- [names] [options]]

${Object.entries(benches)
  .map(([name, { summary }]) => `  ${name.padEnd(14)}${summary}`)
  .join('\n')}

Without a name: all of them. The tables go to docs/benchmarks.md as well.

  --rounds N      rounds, each with every contender in turn (${options.rounds.default})
  --seconds N     of each measurement (${options.seconds.default})
  --clients N     callers at once (${options.clients.default})
  --grants N      grants that end at one instant (${options.grants.default})
  --whole         growth: a million requests, ten thousand tenants, ten million events; takes long
  --no-write      print only
  --miniature     a second or so of each, to see that it works; prints only
`

const { values, positionals } = parseArgs({ options, allowPositionals: true })
const unknown = positionals.filter((name) => benches[name] === undefined)
if (values.help || unknown.length > 0) {
  if (unknown.length > 0) console.error(`there is no bench \`${unknown.join('`, `')}\`\n`)
  console.log(help)
  process.exit(unknown.length > 0 ? 1 : 0)
}

const isMiniature = values.miniature
const effort = {
  isMiniature,
  isWhole: values.whole,
  rounds: isMiniature ? 1 : Number(values.rounds),
  seconds: isMiniature ? 1 : Number(values.seconds),
  clients: isMiniature ? 4 : Number(values.clients),
  grants: isMiniature ? 300 : Number(values.grants),
}
for (const [name, bench] of Object.entries(benches)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  console.error(`── ${name}: ${bench.summary}`)
  const markdown = asMarkdown(name, await bench.run(effort, (line) => console.error(line)))
  console.log(`\n${markdown}\n`)
  if (!isMiniature && !values['no-write']) writeReport(name, markdown)
}
